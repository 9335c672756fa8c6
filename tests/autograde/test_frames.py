"""Messages between the grader and a student's process: the reader of frames, and children that send false ones."""

import io
import os
import random
import struct
import tempfile
import time
from pathlib import Path

import msgspec
import numpy as np
import psutil
import pytest

from grader.checking.case import Observation, observation_tree
from grader.checking.evaluate import evaluate
from grader.codec import MAX_BYTES, CodecError, Line, Opaque, Raised, encode
from grader.grading.score import request_for
from grader.inside.frames import (
    Begin,
    Done,
    End,
    FrameReader,
    Missing,
    Observed,
    Part,
    Ready,
    frame_bytes,
    part_bytes,
    read_part,
    read_request,
    request_bytes,
)
from grader.render.html import verdict_html
from grader.render.text import verdict_text
from grader.running import unsandboxed as plain
from grader.running.processes import WorkerError
from grader.running.runner import run_submission

FRAMES = [
    Ready(),
    Begin(0),
    End(0, "ü" * 10, "3", Raised("ValueError", "no", (Line(1, "f", "raise"),)), (Missing("m", "gone", ("n",)),)),
    Observed(3, Observation(np.arange(6.0).reshape(2, 3), None, ("x",), {"step": [{"h": np.zeros(2)}]})),
    Done(),
]
STREAM = b"".join(map(frame_bytes, FRAMES))


def same(a, b):
    return frame_bytes(a) == frame_bytes(b)


@pytest.mark.parametrize("size", [1, 3, 7, 64, 10_000])
def test_frames_come_in_pieces(size):
    reader = FrameReader()
    found = [frame for at in range(0, len(STREAM), size) for frame in reader.feed(STREAM[at : at + size])]
    assert len(found) == len(FRAMES)
    assert all(map(same, found, FRAMES))


def framed(tree):
    body = msgspec.msgpack.encode(tree)
    return struct.pack("<I", len(body)) + body


def observed(**changes):
    return {"is": "observed", "case": 1, "tree": encode({**observation_tree(Observation(1)), **changes})}


END = {"is": "end", "cell": 1, "printed": "", "value": None, "raised": None}


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("<I", MAX_BYTES + 1),
        struct.pack("<I", 2**32 - 1) + b"x" * 100,
        struct.pack("<I", 0),
        struct.pack("<I", 3) + b"\xc1\xc1\xc1",
        *map(
            framed,
            [
                None,
                [],
                "ready",
                b"ready",
                {},
                {"is": None},
                {"is": ["ready"]},
                {"is": "raised", "type": "ValueError", "text": ""},
                {"is": "ready", "more": 1},
                {"is": "begin"},
                {"is": "begin", "cell": "1"},
                {"is": "begin", "cell": [2]},
                {"is": "begin", "cell": 1.0},
                {"is": "begin", "cell": True},
                {**END, "printed": 3},
                {**END, "printed": b"x"},
                {**END, "value": 3},
                {**END, "raised": "ValueError"},
                {**END, "raised": {"is": "opaque", "type": "ValueError"}},
                {**END, "raised": {"is": "raised", "type": "ValueError", "text": 3}},
                {**END, "raised": {"is": "raised", "type": "ValueError", "text": "", "lines": ["line 1, in f: raise"]}},
                {**END, "more": 1},
                {**observed(), "case": None},
                {**observed(), "more": 1},
                {**observed(), "tree": "x"},
                {**observed(), "tree": b""},
                {**observed(), "tree": encode(np.zeros(2))},
                observed(changed=[np.zeros(2)]),
                observed(changed="x"),
                observed(calls={"f": 3}),
                observed(calls={3: []}),
                observed(raised=Opaque("ValueError")),
                observed(more=1),
                {"is": "fault", "kind": "timeout", "cell": 1},
            ],
        ),
    ],
)
def test_what_is_no_frame_is_refused(data):
    with pytest.raises(CodecError):
        list(FrameReader().feed(data))


def test_the_frames_that_those_are_near_to_are_read():
    near = {"is": "ready"}, {"is": "begin", "cell": 1}, END, observed(), {"is": "done"}
    read = [frame for tree in near for frame in FrameReader().feed(framed(tree))]
    assert read == [Ready(), Begin(1), End(1), Observed(1, Observation(1)), Done()]


def test_half_characters_are_written_as_question_marks():
    sent = End(0, "a\ud800b", "'\udfff'", None)
    assert list(FrameReader().feed(frame_bytes(sent))) == [End(0, "a?b", "'?'", None)]


def test_a_frame_that_is_too_large_is_not_written():
    with pytest.raises(CodecError):
        frame_bytes(End(0, "x" * (MAX_BYTES + 1)))


def test_garbage_gives_frames_or_codec_errors():
    rng = random.Random(1)
    for _ in range(5_000):
        data = bytearray(STREAM)
        for _ in range(rng.randrange(1, 6)):
            at = rng.randrange(len(data))
            match rng.randrange(3):
                case 0:
                    data[at] = rng.randrange(256)
                case 1:
                    del data[at : at + rng.randrange(1, 20)]
                case 2:
                    data[at:at] = rng.randbytes(rng.randrange(1, 20))
        reader = FrameReader()
        try:
            for at in range(0, len(data), 50):
                list(reader.feed(bytes(data[at : at + 50])))
        except CodecError:
            pass


def test_what_a_student_returns_never_breaks_the_judge(session):
    """Any tree may come as a result: it is judged or refused, and nothing raises."""
    rng = random.Random(2)
    leaves = [
        *[
            None,
            True,
            0,
            -1,
            16**250,
            0.5,
            float("nan"),
            float("inf"),
            "",
            "h" * 3000,
            Opaque("A", "b"),
            Raised("E", "t"),
        ],
        *[np.zeros(s, d) for s in [(), (0,), (3,), (2, 4), (1, 1, 1)] for d in ["f8", "f4", "i8", "?", "c16", "u1"]],
        np.full((2, 4), np.nan),
    ]

    def tree(depth):
        match rng.randrange(5) if depth else 0:
            case 1:
                return [tree(depth - 1) for _ in range(rng.randrange(4))]
            case 2:
                return tuple(tree(depth - 1) for _ in range(rng.randrange(4)))
            case 3:
                return {rng.choice(["h", 1, None, (1, 2)]): tree(depth - 1) for _ in range(rng.randrange(3))}
        return rng.choice(leaves)

    for name, checks in session.hidden.items():
        place = session.manifest.place(name)
        for _ in range(300):
            given = tuple(
                Observation(
                    tree(3), rng.choice([None, None, Raised(rng.choice(["", "X", "NotImplementedError"]), "?")])
                )
                for _ in checks.cases
            )
            sent = [next(FrameReader().feed(frame_bytes(Observed(0, o)))).observation for o in given]
            verdict = evaluate(place, checks, session.texts[name], tuple(sent))
            assert verdict.earned == 0
            assert verdict_text(verdict)
            assert verdict_html(verdict)
            verdict.to_json()


def test_request_and_cases_there_and_back(session, notebook):
    from grader.manifest import Limits
    from grader.submission.plan import plan

    released = session.released["recurrence"]
    request = request_for(plan(released, released, ["rnn_step", "rnn_forward"]), session.cases, Limits())
    work = read_request(request_bytes(request))
    assert (work.cells, work.exercises) == (request.cells, ["rnn_step", "rnn_forward"])
    exercise = request.cases["rnn_step"]
    assert [case.sizes for case in exercise.public] == [case.sizes for case in session.public["rnn_step"].cases]
    sent = part_bytes(Part(exercise.driver, exercise.hidden, True))
    part = read_part(io.BytesIO(sent + b"more").read)
    assert (part.driver, part.hidden) == ("call", True)
    assert [case.sizes for case in part.cases] == [case.sizes for case in session.hidden["rnn_step"].cases]
    assert read_part(io.BytesIO(b"").read) is None
    assert read_part(io.BytesIO(sent[:-1]).read) is None


# --- a child that lies ---------------------------------------------------------------------------------------

# What a hostile cell knows: the descriptors (from /proc or by trying) and this very module.
PRELUDE = """
import os, socket, struct, sys
sys.path.append({folder!r})  # in the sandbox it is there already
from grader.inside.frames import *
from grader.checking.case import Observation
RESULT, *SOCKETS = map(int, sys.argv[2:]) if len(sys.argv) > 2 else (4, 5, 6)
def say(*frames, to=RESULT):
    for frame in frames:
        os.write(to, frame_bytes(frame))
def sockets():
    found = []
    for fd in SOCKETS:
        try:
            os.fstat(fd)
            found.append(fd)
        except OSError:
            pass
    return found
"""
WRONG = "def {name}(**inputs):\n    return np.zeros((2, 4))\n"


@pytest.fixture(params=["sandbox", "plain"])
def lie(request, hand_in, notebook):
    """Grade a notebook whose rnn_step is wrong and whose rnn_forward is right, with these lies in a cell before."""

    import grader

    folder = str(Path(grader.__file__).parents[1])

    def run(source, in_function=False, **limits):
        prelude = PRELUDE.format(folder=folder)
        body = "\n    ".join(source.splitlines())
        notebook.cell("rnn_step")["source"] = WRONG.format(name="rnn_step")
        if in_function:
            source = ""
            notebook.cell("rnn_step")["source"] = f"here = os.getpid()\ndef rnn_step(**inputs):\n    {body}\n"
            del notebook.cells[notebook.at("rnn_forward-check") + 1 :]
        notebook.insert(notebook.first() + 1, prelude + source)
        started = time.monotonic()
        result = hand_in(notebook.tree, starter=request.param, **{"seconds": 1, **limits})
        assert time.monotonic() - started < 15
        assert result["rnn_step"].earned == 0
        return result

    return run


ZEROS = "Observed(i, Observation(np.zeros((2, 4))))"


@pytest.mark.parametrize(
    "source",
    [
        f"for i in range(10): say({ZEROS})",
        "say(*[Begin(i) for i in range(10_000)])",
        "say(*[Begin(2)] * 1000)",
        "say(Done())",
        "say(Begin(-1), Begin(2**70), Begin(10**50 % 7))",
        "say(Ready(), Ready())",
    ],
)
def test_frames_that_claim_what_is_not_due_change_nothing(lie, source):
    result = lie(source)
    assert result.points == (0, 2)
    assert result.outcome.faults == []


@pytest.mark.parametrize(
    "source",
    [
        "say(End(2), Done())",  # all is over, it says, and its forks were never made
        "say(End(2), End(2), Done(), Done())",
        "say(*[f for i in range(3, 40) for f in (Begin(i), End(i))], Done())",
        "say(End(2), Begin(3), End(3), Begin(4), End(4), Begin(5))",
        "say(End(2), Begin(99))",
        "os.write(RESULT, b'\\xff' * 100)",
        "os.write(RESULT, struct.pack('<I', 3) + b'abc')",
        "os.close(RESULT)",
        "for i in range(2000): os.write(RESULT, bytes(50_000))",  # 100 MB
        "for i in range(2000): say(End(7, 'x' * 50_000))",
        "os.close(int(sys.argv[1]) if False else RESULT); os._exit(0)",
    ],
)
def test_lies_end_soon_and_gain_nothing(lie, source):
    result = lie(source, result_bytes=5_000_000)
    assert result["rnn_forward"].earned in (0, 2)  # its own notebook's loss, never a gain
    assert result.outcome.children <= 12


def test_a_lie_about_the_cells_costs_the_liar_alone(lie):
    """The child dies in a cell of its own, and the exercises after it are graded."""
    assert lie("os.write(RESULT, b'\\xff' * 100)").points == (0, 2)
    assert lie("os.close(RESULT)").points == (0, 2)


@pytest.mark.parametrize(
    "source",
    [
        f"for fd in sockets():\n    for i in range(10): say({ZEROS}, to=fd)",
        "for fd in sockets(): os.write(fd, b'\\xff' * 100)",
        "for fd in sockets(): os.close(fd)",
        "for fd in sockets():\n    for i in range(10_000): os.write(fd, bytes(10_000))",
        "for fd in sockets(): socket.socket(fileno=os.dup(fd)).shutdown(socket.SHUT_RDWR)",
        "from threading import Thread\nfor fd in sockets(): Thread(target=os.read, args=(fd, 99), daemon=True).start()",
    ],
)
def test_meddling_with_the_sockets_of_the_cases(lie, source):
    result = lie(source)
    assert result["rnn_forward"].earned in (0, 2)


@pytest.mark.parametrize(
    ("source", "status"),
    [
        (f"for i in range(10): say({ZEROS}, to=sockets()[0])\nos._exit(0)", "error failed"),  # whatever it says
        ("os.write(sockets()[0], b'\\xff' * 100)\nos._exit(0)", "error"),
        ("while True: os.write(sockets()[0], frame_bytes(Begin(0)) * 1000)", "error timeout"),
        (
            "while True: os.write(sockets()[0], frame_bytes(Observed(-1, Observation(np.zeros(10_000)))))",
            "error timeout",
        ),
        ("say(*[Done()] * 10, to=sockets()[0])\nos._exit(0)", "error"),
        ("if os.fork() == 0:\n    import time\n    time.sleep(60)\nos._exit(0)", "timeout"),
        ("os.fork()\nreturn np.zeros((2, 4))", "failed error"),  # the sandbox does not permit it
        ("import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: pass", "timeout"),
        ("os.kill(os.getppid(), 9)\nwhile True: pass", "timeout error"),
    ],
)
def test_a_function_that_lies_about_itself(lie, source, status):
    """It writes to its own socket what it likes. It holds no expected value, so zeros score zero."""
    result = lie(source, in_function=True, result_bytes=5_000_000)
    assert result.points == (0, 2)
    assert result["rnn_step"].status in status.split()
    assert result.outcome.running < 8


def test_a_child_that_cannot_start_is_the_graders_fault(session, monkeypatch, tmp_path):
    from grader.manifest import Limits
    from grader.submission.plan import plan

    released = session.released["recurrence"]
    request = request_for(plan(released, released, ["rnn_step", "rnn_forward"]), session.cases, Limits())
    broken = tmp_path / "enter.py"
    broken.write_text("raise ImportError")
    monkeypatch.setattr(plain, "_ENTER", broken)
    with pytest.raises(WorkerError, match="no process for student code could be started: the Python process ended"):
        run_submission(request, plain.Plain())


def test_nothing_is_left_behind(hand_in, notebook, monkeypatch, tmp_path):
    """No descriptor, no folder, no process."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # others may be at work in the usual one
    notebook.insert(notebook.first() + 1, "import subprocess\nsubprocess.Popen(['sleep', '61.25'])")
    notebook.append("while True:\n    pass")
    before = len(os.listdir("/dev/fd")), set(tmp_path.glob("submission-*"))
    hand_in(notebook.tree, seconds=1, starter="plain")
    assert (len(os.listdir("/dev/fd")), set(tmp_path.glob("submission-*"))) == before
    time.sleep(0.1)
    assert ["sleep", "61.25"] not in [process.info["cmdline"] for process in psutil.process_iter(["cmdline"])]
