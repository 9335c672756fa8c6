"""What a student's process is asked to do, and what it answers: a request, exams, and frames of bounded bytes.

The request holds the cells and no case. Each exercise's exam, its hidden inputs, follows on a socket of its own,
and only after the last visible cell has ended. A frame is four bytes of length, little endian, and one of the classes
of `Frame` as msgpack; what was observed lies in it as a tree of `grader.codec`. The parent believes nothing in it but
its form: a frame that does not parse ends the conversation.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec

from grader.checking.case import Case, Observation, observation_from_tree, observation_tree
from grader.codec import MAX_BYTES, CodecError, Raised, decode, encode, writable

if TYPE_CHECKING:  # the student's process has no manifest
    from grader.manifest import Limits

MAX_VALUE = 4_000  # characters kept of a last expression's text
MAX_LINES = 3  # and lines of a traceback
MAX_MISSING = 20  # modules of a cell that could not be imported
NOT_KEPT = "\n[what was printed beyond this was not kept]"
_LENGTH = struct.Struct("<I")


@dataclass(frozen=True)
class Cell:
    """One cell to run. At a check cell a fork is left that drives its function; its source is not run.

    Where it `shares`, the fork of the next check cell drives it, or behind the last the process itself: nothing that
    runs until then keeps a state. A `plain` cell imports nothing by its own statements, and ends with no expression.
    """

    index: int
    source: str
    exercise: str | None = None
    shares: bool = False
    plain: bool = False


def file_of(number: int) -> str:
    """What stands for a file's name in the tracebacks of a cell, by its number in its notebook; people count from 1."""
    return f"<cell {number + 1}>"


@dataclass(frozen=True)
class Exam:
    """What the child needs to drive an exercise: how, on which inputs, and the text of the chapter's own builders of
    inputs. No expected value is among it.

    The public cases are sent first, and answered by all exercises before any gets its hidden ones.
    """

    driver: str
    public: tuple[Case, ...]
    hidden: tuple[Case, ...]
    fixtures: str = ""
    seconds: float | None = None  # for either half, where it is not what the chapter says
    _bytes: dict[bool, bytes] = field(default_factory=dict, repr=False, compare=False)

    def part_bytes(self, hidden: bool) -> bytes:
        """One half as bytes for the fork: the same for a whole class, and so made once."""
        if hidden not in self._bytes:
            cases = self.hidden if hidden else self.public
            self._bytes[hidden] = part_bytes(Part(self.driver, cases, hidden, self.fixtures))
        return self._bytes[hidden]


@dataclass(frozen=True)
class Request:
    """One notebook to run, or several in one process, which begin at the cells of these indices (`starts`). `files`
    lie in its folder, by name; `skip` names cells that are not run (again). Where it is run `apart`, every check cell
    has a fork of its own.
    """

    cells: tuple[Cell, ...]
    exams: dict[str, Exam]
    limits: Limits
    files: Mapping[str, bytes] = field(default_factory=dict)
    skip: frozenset[int] = frozenset()
    apart: bool = False
    starts: tuple[int, ...] = (0,)

    def seconds(self, cell: Cell) -> float:
        """How much running time a cell may take, or each half of the exam at a check cell."""
        if cell.exercise is None:
            return self.limits.seconds_per_cell
        return self.exams[cell.exercise].seconds or self.limits.seconds_per_exercise

    def start_of(self, cell: Cell) -> int:
        """The index at which the cell's notebook begins."""
        return max(start for start in self.starts if start <= cell.index)

    @property
    def to_run(self) -> tuple[Cell, ...]:
        cells = (cell for cell in self.cells if cell.index not in self.skip)
        return tuple(replace(cell, shares=False) if self.apart else cell for cell in cells)


class _Frame(msgspec.Struct, frozen=True, tag_field="is", tag=str.lower, forbid_unknown_fields=True):
    """What a student's process writes, as msgpack."""


class Ready(_Frame, frozen=True):
    """The child has started and is about to run the first cell."""


class Begin(_Frame, frozen=True):
    """The child is about to run this cell."""

    cell: int


@dataclass(frozen=True)
class Observed:
    """One case was driven, of the exercise whose socket this comes from."""

    case: int
    observation: Observation


class Missing(msgspec.Struct, frozen=True):
    """A module that a cell could not import, why, and the names that it should have bound; `*` for any."""

    module: str
    reason: str
    names: tuple[str, ...] = ()


class End(_Frame, frozen=True):
    """A cell has run: what it printed, the text of its last expression, the exception that ended it or that a failed
    import brought about, and what could not be imported.
    """

    cell: int
    printed: str = ""
    value: str | None = None
    raised: Raised | None = None
    missing: tuple[Missing, ...] = ()


class Done(_Frame, frozen=True):
    """All cells have run."""


Frame = Ready | Begin | Observed | End | Done


class _Observed(_Frame, frozen=True, tag="observed"):
    """An `Observed` as it crosses, with the observation's tree in bytes."""

    case: int
    tree: bytes


@dataclass(frozen=True)
class Work:
    """A request as the child reads it, with the exercises in the order of their sockets."""

    cells: tuple[Cell, ...]
    exercises: list[str]
    files: dict[str, bytes]
    output_bytes: int
    starts: tuple[int, ...]


_encoder = msgspec.msgpack.Encoder()
_Wire = Ready | Begin | _Observed | End | Done
_frames: msgspec.msgpack.Decoder[_Wire] = msgspec.msgpack.Decoder(_Wire)
_requests = msgspec.msgpack.Decoder(Work)


def request_bytes(request: Request) -> bytes:
    """A request as bytes for the child."""
    files, room = dict(request.files), request.limits.output_bytes
    return _encoder.encode(Work(request.to_run, list(request.exams), files, room, request.starts))


def read_request(data: bytes) -> Work:
    """The inverse of `request_bytes`. The request comes from the parent and is trusted."""
    return _requests.decode(data)


@dataclass(frozen=True)
class Part:
    """One half of an exam as the fork reads it: cases to drive, and how."""

    driver: str
    cases: tuple[Case, ...]
    hidden: bool
    fixtures: str = ""


def part_bytes(part: Part) -> bytes:
    """Half an exam as bytes for its fork, with the length in front."""
    cases = [(dict(case.sizes), dict(case.inputs), case.kind) for case in part.cases]
    body = encode({**vars(part), "cases": cases})
    return _LENGTH.pack(len(body)) + body


def read_part(receive: Callable[[int], bytes]) -> Part | None:
    """The inverse of `part_bytes`, from a function that reads at most so many bytes; None where the parent is gone or
    has no more to ask.
    """
    head = _exactly(receive, _LENGTH.size)
    body = None if head is None else _exactly(receive, _LENGTH.unpack(head)[0])
    if body is None:
        return None
    tree = decode(body)
    return Part(**{**tree, "cases": tuple(Case(*case) for case in tree["cases"])})


def _exactly(receive: Callable[[int], bytes], length: int) -> bytes | None:
    read = bytearray()
    while len(read) < length:
        data = receive(length - len(read))
        if not data:
            return None
        read += data
    return bytes(read)


def not_defined(exercise: str) -> Raised:
    """What is observed where the notebook has not defined the exercise's function when its check is due."""
    return Raised("NameError", f"{exercise} is not defined")


def frame_bytes(frame: Frame) -> bytes:
    """One frame with its length in front. Raises CodecError where it is too large."""
    crosses: _Wire
    match frame:
        case Observed(case, observation):
            crosses = _Observed(case, encode(observation_tree(observation)))
        case End(printed=printed, value=value):
            text = None if value is None else writable(value)
            crosses = msgspec.structs.replace(frame, printed=writable(printed), value=text)
        case _:
            crosses = frame
    body = _encoder.encode(crosses)
    if len(body) > MAX_BYTES:
        raise CodecError(f"a frame of {len(body):,} bytes")
    return _LENGTH.pack(len(body)) + body


@dataclass
class FrameReader:
    """Takes bytes as they come and gives the frames that are complete. Raises CodecError for anything malformed."""

    _buffer: bytearray = field(default_factory=bytearray)

    @property
    def pending(self) -> bool:
        """Whether there are bytes after the last frame that was given."""
        return bool(self._buffer)

    def feed(self, data: bytes) -> Iterator[Frame]:
        self._buffer += data
        while len(self._buffer) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer)
            if length > MAX_BYTES:
                raise CodecError(f"a frame of {length:,} bytes")
            if len(self._buffer) < _LENGTH.size + length:
                return
            body = bytes(self._buffer[_LENGTH.size : _LENGTH.size + length])
            del self._buffer[: _LENGTH.size + length]
            yield _frame(body)


def _frame(body: bytes) -> Frame:
    try:
        frame = _frames.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CodecError(f"not a frame: {error}") from error
    if isinstance(frame, _Observed):
        return Observed(frame.case, observation_from_tree(decode(frame.tree)))
    return frame
