"""The reader of frames on 100,000 random inputs: it returns frames or raises CodecError, in bounded memory and time."""

import random
import struct
import subprocess
import sys
import time

import msgspec
import numpy as np
import pytest

from grader.checking.case import Observation
from grader.codec import DTYPES, MAX_BYTES, CodecError, Line, Opaque, Raised
from grader.inside.frames import Begin, Done, End, FrameReader, Missing, Observed, Ready, frame_bytes

INPUTS = 100_000
VALID = [
    frame_bytes(frame)
    for frame in (
        Ready(),
        Begin(0),
        Done(),
        End(0, "ü" * 10, "3", Raised("ValueError", "no", (Line(1, "f", "raise"),)), (Missing("m", "gone", ("n",)),)),
        Observed(3, Observation(np.arange(6.0).reshape(2, 3), None, ("x",), {"step": [{"h": np.zeros(2)}]})),
        Observed(0, Observation((1, 2**70, -0.5, "a", None, True, [Opaque("A", "b")]), Raised("E", "t"))),
        Observed(1, Observation({"h": np.zeros((0, 3), "c16"), 2: np.array(True)}, None, (), {"f": []})),
    )
]


def mutated(rng):
    """A stream of valid frames with a few bytes changed, lost, added, repeated or exchanged."""
    data = bytearray(b"".join(rng.choices(VALID, k=rng.randrange(1, 4))))
    for _ in range(rng.randrange(1, 5)):
        at, size = rng.randrange(len(data)), rng.randrange(1, 9)
        match rng.randrange(5):
            case 0:
                data[at] = rng.randrange(256)
            case 1:
                del data[at : at + size]
            case 2:
                data[at:at] = rng.randbytes(size)
            case 3:
                data[at:at] = data[at : at + 4 * size]
            case 4:
                data[at] ^= 1 << rng.randrange(8)
        if not data:
            break
    return bytes(data)


def noise(rng):
    """Random bytes behind a length that fits."""
    body = rng.randbytes(rng.randrange(60))
    return struct.pack("<I", len(body)) + body


def built(rng):
    """A tree that is valid msgpack, and nearly of the codec's kinds."""
    tags = ["list", "tuple", "dict", "array", "int", "raised", "opaque", "fixture", "ready", "end", "begin", "observed"]
    leaves = [None, True, 0, -1, 2**63, 1.5, float("nan"), "", "is", "|O8", "<f8", b"", b"\0" * 8, "f" * 301, "-0xg"]

    def tree(depth):
        if depth == 0 or rng.random() < 0.2:
            return rng.choice(leaves)
        match rng.randrange(4):
            case 0:
                return [tree(depth - 1) for _ in range(rng.randrange(4))]
            case 1:
                shape = [rng.choice([0, 1, 2, -1, 2**31, 2**62]) for _ in range(rng.choice([0, 1, 2, 40]))]
                dtype = rng.choice([*DTYPES, "O", ">f8"])
                return {"is": "array", "dtype": dtype, "shape": shape, "data": rng.randbytes(rng.choice([0, 1, 8, 16]))}
            case 2:
                return {
                    "is": "dict",
                    "items": [[rng.choice(["is", "cell", "case"]), tree(depth - 1)] for _ in range(3)],
                }
        names = rng.sample(["items", "hex", "type", "text", "lines", "kind", "params", "dtype", "shape", "data"], 3)
        return {"is": rng.choice(tags), **{name: tree(depth - 1) for name in names}}

    made = tree(rng.randrange(1, 6))
    if rng.random() < 0.5:  # in the place where what was observed crosses
        names, calls = (rng.choice([{"is": kind, "items": []}, tree(2)]) for kind in ("list", "dict"))
        given = [("result", made), ("raised", None), ("changed", names), ("calls", calls)]
        made = {"is": "observed", "case": 0, "tree": msgspec.msgpack.encode({"is": "dict", "items": given})}
    body = msgspec.msgpack.encode(made)
    return struct.pack("<I", len(body)) + body


def test_100_000_inputs_give_frames_or_codec_errors():
    rng = random.Random(6)
    read, refused = 0, 0
    for number in range(INPUTS):
        data = (mutated, noise, built)[number % 3](rng)
        reader = FrameReader()
        cut = rng.randrange(len(data) + 1)
        try:
            for piece in (data[:cut], data[cut:]):
                for frame in reader.feed(piece):
                    assert isinstance(frame, Ready | Begin | Observed | End | Done)
                    frame_bytes(frame)
                    read += 1
        except CodecError:
            refused += 1
    assert read > INPUTS / 20
    assert refused > INPUTS / 2


@pytest.mark.parametrize(
    "stream",
    [
        lambda size: [frame_bytes(Begin(1)) * (size // 20)],
        lambda size: [bytes([byte]) for byte in frame_bytes(End(1, "x" * size))],
        lambda size: [struct.pack("<I", size + 1), *[b"x" * 10] * (size // 10)],
    ],
    ids=["many frames at once", "a byte at a time", "a frame that is never complete"],
)
def test_time_grows_with_the_bytes(stream):
    def seconds(size):
        pieces = stream(size)
        found = []
        for _ in range(3):
            reader, start = FrameReader(), time.process_time()
            for piece in pieces:
                list(reader.feed(piece))
            found.append(time.process_time() - start)
        return min(found)

    assert seconds(400_000) < 16 * seconds(50_000) + 0.05  # eight times the bytes; the square would be 64 times


MOST = """
import resource, struct
from grader.inside.frames import FrameReader
from grader.codec import CodecError, MAX_BYTES
count = (MAX_BYTES - 60) // 3
tree = b"\\x82\\xa2is\\xa4dict\\xa5items\\xdd" + struct.pack(">I", count) + b"\\x92\\xc0\\xc0" * count
body = b"\\x83\\xa2is\\xa8observed\\xa4case\\x00\\xa4tree\\xc6" + struct.pack(">I", len(tree)) + tree
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    list(FrameReader().feed(struct.pack("<I", len(body)) + body))
except CodecError:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_the_frame_that_takes_most_memory():
    """Of 16 MB it makes pairs, the largest values for their bytes: some 30 bytes of memory each, and no more."""
    run = subprocess.run([sys.executable, "-c", MOST], capture_output=True, text=True, check=True)
    assert int(run.stdout) << 10 < 40 * MAX_BYTES
