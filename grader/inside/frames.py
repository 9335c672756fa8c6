"""The messages between the grader and a student's process: a request, test cases, and frames of limited size.

The request contains the cells but no cases. The inputs of each exercise's cases follow on a separate socket, and only
after the last visible cell has ended. A frame is its length in four bytes, little endian, and one of the classes of
`Frame` as msgpack; observations are in it as trees of `grader.codec`. The parent treats frames as untrusted input: a
frame that cannot be parsed ends the communication.
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

MAX_VALUE = 4_000  # characters of a last expression's text that are kept
MAX_MISSING = 20  # modules of a cell that could not be imported
NOT_KEPT = "\n[what was printed beyond this was not kept]"
_LENGTH = struct.Struct("<I")


@dataclass(frozen=True)
class Cell:
    """One cell to run. A check cell's source is not run; the process leaves a fork there, which calls its function:
    `examined`, or one with the exercise's name.

    If it `shares`, the fork of the next check cell (after the last one, the process itself) calls it, because nothing
    that runs until then keeps state. A `plain` cell has no import statements of its own and no last expression.
    """

    index: int
    source: str
    exercise: str | None = None
    shares: bool = False
    plain: bool = False
    examined: str = ""


def file_of(number: int) -> str:
    """The name that a cell has in tracebacks in place of a file name, by its number in its notebook from 0."""
    return f"<cell {number + 1}>"


@dataclass(frozen=True)
class ExerciseCases:
    """The test cases of an exercise for the child: how to call the function, on which inputs, and the source of the
    chapter's own fixtures, which build inputs. There are no expected values.

    The public cases are sent first, and all exercises answer theirs before any gets its hidden cases.
    """

    driver: str
    public: tuple[Case, ...]
    hidden: tuple[Case, ...]
    fixtures: str = ""
    seconds: float | None = None  # for the public and for the hidden cases, if different from the chapter's limit
    _bytes: dict[bool, bytes] = field(default_factory=dict, repr=False, compare=False)

    def part_bytes(self, hidden: bool) -> bytes:
        """The public or the hidden cases as bytes for the fork. They are the same for all students, so made once."""
        if hidden not in self._bytes:
            cases = self.hidden if hidden else self.public
            self._bytes[hidden] = part_bytes(Part(self.driver, cases, hidden, self.fixtures))
        return self._bytes[hidden]


@dataclass(frozen=True)
class Request:
    """One notebook to run, or several in one process, which begin at the cells with the indices `starts`. `files` are
    put into its folder, by name; cells in `skip` are not run (again). If `apart`, every check cell gets its own fork.
    """

    cells: tuple[Cell, ...]
    cases: dict[str, ExerciseCases]
    limits: Limits
    files: Mapping[str, bytes] = field(default_factory=dict)
    skip: frozenset[int] = frozenset()
    apart: bool = False
    starts: tuple[int, ...] = (0,)

    def seconds(self, cell: Cell) -> float:
        """The running time that a cell may take; at a check cell, for the public and for the hidden cases each."""
        if cell.exercise is None:
            return self.limits.seconds_per_cell
        return self.cases[cell.exercise].seconds or self.limits.seconds_per_exercise

    def start_of(self, cell: Cell) -> int:
        """The index at which the cell's notebook begins."""
        return max(start for start in self.starts if start <= cell.index)

    @property
    def to_run(self) -> tuple[Cell, ...]:
        cells = (cell for cell in self.cells if cell.index not in self.skip)
        return tuple(replace(cell, shares=False) if self.apart else cell for cell in cells)


class _Frame(msgspec.Struct, frozen=True, tag_field="is", tag=str.lower, forbid_unknown_fields=True):
    """A message from a student's process, as msgpack."""


class Ready(_Frame, frozen=True):
    """The child has started and is about to run the first cell."""


class Begin(_Frame, frozen=True):
    """The child is about to run this cell."""

    cell: int


@dataclass(frozen=True)
class Observed:
    """The function was called on one case of the exercise whose socket this comes from."""

    case: int
    observation: Observation


class Missing(msgspec.Struct, frozen=True):
    """A module that a cell could not import, the reason, and the names that it should have bound; `*` for any name."""

    module: str
    reason: str
    names: tuple[str, ...] = ()


class End(_Frame, frozen=True):
    """A cell has run: its output, the text of its last expression, the exception that ended it or that a failed import
    caused, and the modules that could not be imported.
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
    """An `Observed` as it is sent, with the observation's tree as bytes."""

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
    return _encoder.encode(Work(request.to_run, list(request.cases), files, room, request.starts))


def read_request(data: bytes) -> Work:
    """The inverse of `request_bytes`. The request comes from the parent and is trusted."""
    return _requests.decode(data)


@dataclass(frozen=True)
class Part:
    """The public or the hidden cases of an exercise as the fork reads them, and how to call the function."""

    driver: str
    cases: tuple[Case, ...]
    hidden: bool
    fixtures: str = ""


def part_bytes(part: Part) -> bytes:
    """A `Part` as bytes for its fork, preceded by the length."""
    cases = [(dict(case.sizes), dict(case.inputs), case.kind) for case in part.cases]
    body = encode({**vars(part), "cases": cases})
    return _LENGTH.pack(len(body)) + body


def read_part(receive: Callable[[int], bytes]) -> Part | None:
    """The inverse of `part_bytes`, from a function that reads at most so many bytes; None if the parent has ended or
    sends no more cases.
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
    """The observation if the notebook has not defined the exercise's function before its check cell."""
    return Raised("NameError", f"{exercise} is not defined")


def frame_bytes(frame: Frame) -> bytes:
    """One frame preceded by its length. Raises CodecError if it is too large."""
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
    """Collect bytes as they come and return complete frames. Raises CodecError for anything malformed."""

    _buffer: bytearray = field(default_factory=bytearray)

    @property
    def pending(self) -> bool:
        """Whether there are bytes after the last frame that was returned."""
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
