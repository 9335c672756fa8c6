"""Every attack of `corpus/` on the real sandbox: it gains no point, reads no secret, and leaves nothing behind.

After each attack, a correct notebook of the next student runs in the same warm process and gets all points.
"""

import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import numpy as np
import psutil
import pyseccomp
import pytest
from attack import ATTACKS
from right_work import RIGHT

from grader.cells import notebook_bytes
from grader.grading import grade
from grader.inside.frames import Observed, frame_bytes
from grader.manifest import Limits
from grader.running.sandbox import Sandbox
from grader.running.together import run_together

# What an attack may use: little, so that it is soon used up. The next student has the same room, and more time.
LIMITS = Limits(
    seconds_per_exercise=2,
    seconds_per_cell=2,
    memory_mb=256,
    disk_mb=8,
    files=100,
    processes=16,
    result_bytes=4_000_000,
)
PATIENT = msgspec.structs.replace(LIMITS, seconds_per_exercise=20.0, seconds_per_cell=20.0)
CALLS = """
acct add_key bpf capset chroot clone clone3 connect execve execveat finit_module flock fsmount fsopen getpid
init_module io_uring_setup ioperm iopl kcmp kexec_load keyctl kill landlock_create_ruleset listmount
memfd_create memfd_secret mincore mknodat mmap mount mount_setattr move_mount mprotect mq_open msgget munmap
name_to_handle_at open_by_handle_at open_tree perf_event_open personality pidfd_getfd pidfd_open
pidfd_send_signal pivot_root prctl prlimit64 process_madvise process_vm_readv process_vm_writev ptrace quotactl
reboot recvmsg request_key rt_sigaction sched_setaffinity sched_setscheduler semget sendmsg sendto setdomainname
setgroups sethostname setns setpriority setresuid settimeofday setuid setxattr shmat shmget socket socketpair statmount
swapon syslog tgkill umount2 unshare userfaultfd vhangup vmsplice
"""


@dataclass(frozen=True)
class Found:
    """What grading a notebook came to."""

    points: tuple[float, float]
    seconds: float  # of running time
    shown: str  # the autograded notebook's outputs and the stored result: more than the student gets to see
    told: str  # what the processes told the grader in words: printed, raised, returned; and the faults
    crossed: bytes  # all of what they told it


@pytest.fixture(scope="module")
def sandbox(session):
    with Sandbox(LIMITS, hide=(session.root, session.term)) as sandbox:
        yield sandbox


@pytest.fixture
def hand_in(session, sandbox, monkeypatch):
    """Grade a notebook of these cells, by place, all the way to the autograded notebook and the stored result."""

    def run(student, cells, limits=LIMITS):
        outcomes = []

        def watched(requests, starter):
            outcomes.extend(run_together(requests, starter))
            return outcomes

        monkeypatch.setattr(grade, "run_together", watched)
        folder = session.term / "submitted" / student / session.chapter.id
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "recurrence.ipynb").write_text(json.dumps(spliced(session, cells)))
        graded = grade.grade_or_fault(replace(session, limits=limits), sandbox, student, folder, sandboxed=True)
        assert graded.fault == ""
        (outcome,) = outcomes
        verdicts = graded.verdicts["recurrence"]
        autograded = session.term / "autograded" / student / session.chapter.id / "recurrence.ipynb"
        cells = json.loads(autograded.read_bytes())["cells"]
        outputs = json.dumps([cell["outputs"] for cell in cells if cell["cell_type"] == "code"], ensure_ascii=False)
        observed = [
            o for part in (outcome.observations, outcome.public) for found in part.values() for o in enumerate(found)
        ]
        shown = outputs + msgspec.json.encode(graded).decode()
        return Found(
            (verdicts["rnn_step"].earned, verdicts["rnn_forward"].earned),
            outcome.running,
            shown,
            "\n".join(words_of(outcome, [observation for _, observation in observed])),
            shown.encode() + b"".join(frame_bytes(Observed(*each)) for each in observed),
        )

    return run


def spliced(session, cells):
    """The released notebook with these cells in their places."""
    tree = json.loads(notebook_bytes(session.released["recurrence"]))
    first = next(i for i, cell in enumerate(tree["cells"]) if cell["cell_type"] == "code")
    for cell in tree["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        cell["source"] = {"rnn_forward": RIGHT["rnn_forward"], **cells}.get(name, cell["source"])
    tree["cells"][first + 1 : first + 1] = [code(cells.get(place, "")) for place in ("prelude", "start")]
    tree["cells"] += [code(cells["end"])] if "end" in cells else []
    return tree


def code(source):
    return {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}


@pytest.fixture(scope="module")
def prelude(session):
    native = pyseccomp.Arch.NATIVE
    text = Path(__file__).with_name("prelude.py").read_text("utf-8")
    for name, value in {
        "TERM": str(session.term),
        "ROOT": str(session.root),
        "GRADER": os.getpid(),
        "CALLS": {name: pyseccomp.resolve_syscall(native, name) for name in CALLS.split()},
    }.items():
        text = text.replace(f"{name} = ...", f"{name} = {value!r}")
    return text


@pytest.fixture
def honest(hand_in, token):
    """Grade the next student's correct notebook, which no attack may see."""

    def run():
        return hand_in("next", {**RIGHT, "start": f"mine = {token!r}"}, PATIENT)

    return run


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_attack(attack, hand_in, honest, prelude, session, sandbox, token):
    sandbox._warm()
    warm = sandbox._process.pid
    before = settled(warm)
    found = hand_in("attacker", {"prelude": prelude, **attack.cells})
    assert all(words in found.told for words in attack.seen), found.told
    assert found.points == attack.points, found.told
    assert found.seconds < attack.seconds
    assert len(found.shown) < 200_000
    assert "WON" not in found.told
    assert not any(secret.encode() in found.crossed for secret in (token, seed_of(session)))
    assert not any(number in found.shown for number in hidden_numbers(session))
    if "next" in attack.cells:
        left = hand_in("accomplice", {"prelude": prelude, "start": attack.cells["next"]})
        assert "TOLD" in left.told
        assert "WON" not in left.told
        assert token.encode() not in left.crossed

    assert sandbox._process.pid == warm
    assert settled(warm, before) == before
    assert honest().points == (2, 2)


def settled(warm, due=None):
    """What is inside once the last notebook is cleared up: the warm process answers before the kernel has done that.
    Until then, a process that has ended is still listed, without descriptors.
    """
    end = time.monotonic() + 30
    seen, again = None, inside(warm)
    while (seen != again or [] in again.values() or due not in (None, again)) and time.monotonic() < end:
        time.sleep(0.02)
        seen, again = again, inside(warm)
    return again


def words_of(outcome, observations):
    """All that was said, once."""
    for end in outcome.ends.values():
        yield from (f"{text[:1000]} … {text[-1000:]}" for text in (end.printed, end.value) if text)
    raised = [each.raised for each in (*outcome.ends.values(), *observations) if each.raised]
    yield from dict.fromkeys(f"{each.type}: {each.text} {[line.text for line in each.lines]}" for each in raised)
    results = [each.result for each in observations if not isinstance(each.result, np.ndarray)]
    yield from dict.fromkeys(str(result)[:500] for result in results if result is not None)
    yield from (f"fault in cell {fault.cell}: {fault.kind}, {fault.text}" for fault in outcome.faults)


def seed_of(session):
    return (session.term / "hidden" / "seed").read_text()


def hidden_numbers(session):
    """What tells a hidden input: each number in full, and six digits of the first."""
    for checks in session.hidden.values():
        for case in checks.cases:
            numbers = np.concatenate([np.ravel(value) for value in case.inputs.values()])
            yield from (repr(abs(float(number))) for number in numbers)
            yield f"{abs(numbers[0]):.6g}"


def inside(pid):
    """This process and all below it, with the descriptors that each has open."""
    found = {}
    with suppress(psutil.NoSuchProcess):
        for process in (first := psutil.Process(pid), *first.children(recursive=True)):
            with suppress(OSError):
                found[process.pid] = sorted(os.listdir(f"/proc/{process.pid}/fd"))
    return found
