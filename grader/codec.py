"""The codec for everything that is sent between processes or recorded: trees of plain values ⇄ bytes.

A tree is built of None, bool, int, float, str, list, tuple, dict, NumPy arrays of the dtypes below, and three markers:
`Raised` (an exception, as type and text), `Opaque` (a value of any other type, as type and text) and `Fixture` (a
callable input, as the name of its builder and the arrays it is built from). `freeze` converts any value to that form.
`decode` accepts untrusted bytes: anything malformed, too large or too deep raises `CodecError`.
"""

from __future__ import annotations

import math
import sys
import zlib
from typing import Annotated, Any, Literal, NoReturn

import msgspec
import numpy as np

MAX_DEPTH = 20
MAX_NODES = 200_000
MAX_BYTES = 16_000_000
MAX_TEXT = 2_000
MAX_LINES = 3  # of a traceback
MAX_DIMENSIONS = 32
MAX_HEX = 300

Dtype = Literal["|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8", "<c8", "<c16"]
DTYPES: frozenset[str] = frozenset(Dtype.__args__)  # type: ignore[attr-defined]


class CodecError(ValueError):
    """These bytes are not a tree, or this tree is too large or too deep to encode."""


class Line(msgspec.Struct, frozen=True):
    """A line of a traceback: its number in its cell or file, the function that contains it, and its source."""

    number: Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
    function: str
    source: str

    @property
    def text(self) -> str:
        """'line 2, in f: return x'."""
        return f"line {self.number}, in {self.function}: {self.source}"


class Raised(msgspec.Struct, frozen=True, tag_field="is", tag="raised"):
    """An exception: its type's name, its text, and the student's own lines of its traceback."""

    type: str
    text: str
    lines: tuple[Line, ...] = ()


class Opaque(msgspec.Struct, frozen=True, tag_field="is", tag="opaque"):
    """A value that the codec cannot represent: the name of its type and, if useful, a short description."""

    type: str
    text: str = ""


class Fixture(msgspec.Struct, frozen=True):
    """A callable input of a case: a builder's name in `grader.checking.fixtures` and its named parameters."""

    kind: str
    params: dict[str, Any]


class _List(msgspec.Struct, frozen=True, tag_field="is", tag="list"):
    items: list[_Node]


class _Tuple(msgspec.Struct, frozen=True, tag_field="is", tag="tuple"):
    items: list[_Node]


class _Dict(msgspec.Struct, frozen=True, tag_field="is", tag="dict"):
    items: list[tuple[_Node, _Node]]


class _Array(msgspec.Struct, frozen=True, tag_field="is", tag="array"):
    dtype: Dtype
    shape: Annotated[list[Annotated[int, msgspec.Meta(ge=0, lt=2**31)]], msgspec.Meta(max_length=MAX_DIMENSIONS)]
    data: bytes


class _Int(msgspec.Struct, frozen=True, tag_field="is", tag="int"):
    hex: str  # for integers beyond 64 bits


class _Fixture(msgspec.Struct, frozen=True, tag_field="is", tag="fixture"):
    kind: str
    params: _Node


_Node = None | bool | int | float | str | _List | _Tuple | _Dict | _Array | _Int | Raised | Opaque | _Fixture

_PLAIN = frozenset((float, int, bool, str, type(None)))
_DTYPES = {name: np.dtype(name) for name in DTYPES}
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_Node)


def encode(value: object) -> bytes:
    """Freeze a value and write it as bytes. Equal trees give equal bytes. Raises CodecError if it is too large, or
    if a dict's key cannot be represented.
    """
    data = _encoder.encode(_to_node(value, _Budget(), 0))
    if len(data) > MAX_BYTES:
        raise CodecError(f"this value needs {len(data):,} bytes; at most {MAX_BYTES:,} can be kept")
    return data


def decode(data: bytes) -> Any:
    """Read a tree from untrusted bytes. Raises CodecError; the arrays are writable."""
    if len(data) > MAX_BYTES:
        raise CodecError(f"{len(data):,} bytes; at most {MAX_BYTES:,} are read")
    try:
        return _from_node(_decoder.decode(data), _Budget(), 0)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CodecError(f"not a tree: {error}") from error


def deflate(value: object) -> bytes:
    """`encode`, compressed. The bytes depend on the machine's zlib: compare what `inflate` reads. Raises CodecError."""
    return zlib.compress(encode(value), 9)


def inflate(data: bytes) -> Any:
    """Read the tree that `deflate` wrote, from untrusted bytes. Raises CodecError."""
    return decode(inflated(data))


def inflated(data: bytes) -> bytes:
    """The bytes that `deflate` compressed, `MAX_BYTES` at most. Raises CodecError."""
    stream = zlib.decompressobj()
    try:
        whole = stream.decompress(data, MAX_BYTES)
    except zlib.error as error:
        raise CodecError(f"not compressed as `deflate` does: {error}") from error
    if not stream.eof:
        raise CodecError(
            f"more than {MAX_BYTES:,} bytes" if len(whole) == MAX_BYTES else "compressed bytes that end early"
        )
    if stream.unused_data:
        raise CodecError(f"{len(stream.unused_data):,} bytes after the compressed ones")
    return whole


def freeze(value: object) -> Any:
    """A deep copy in the codec's plain form, exactly the result of `decode(encode(value))`."""
    if type(value) in (float, bool):
        return value
    if type(value) is np.ndarray and _is_carried(value):
        return value.copy("C")
    if type(value) is dict and _is_of_carried_arrays(value):
        return {name: array.copy("C") for name, array in value.items()}
    return _from_node(_to_node(value, _Budget(), 0), _Budget(), 0)


def first_opaque(tree: object, place: str = "") -> tuple[str, Opaque] | None:
    """The first value in a frozen tree that the codec cannot represent, and its position: "['W'][2]"."""
    match tree:
        case Opaque():
            return place, tree
        case Fixture(_, params):
            entries = [(f"{place}.{name}", value) for name, value in params.items()]
        case list() | tuple():
            entries = [(f"{place}[{index}]", value) for index, value in enumerate(tree)]
        case dict():
            keys = [(f"{place}[{key!r}]", key) for key in tree]
            entries = keys + [(f"{place}[{key!r}]", value) for key, value in tree.items()]
        case _:
            return None
    return next((found for where, value in entries if (found := first_opaque(value, where))), None)


def readable(text: str) -> str:
    """At most MAX_TEXT characters of the text, with `?` for characters that UTF-8 cannot encode."""
    return writable(text[:MAX_TEXT])


def shortened(raised: Raised) -> Raised:
    """An exception with texts and lines as an honest process sends them."""
    lines = tuple(
        Line(line.number, line.function[:MAX_TEXT], line.source[:MAX_TEXT]) for line in raised.lines[-MAX_LINES:]
    )
    return Raised(raised.type[:MAX_TEXT], raised.text[:MAX_TEXT], lines)


def writable(text: str) -> str:
    """The text with `?` for lone surrogates, which UTF-8 cannot encode."""
    return text if type(text) is str and text.isascii() else str.encode(text, "utf-8", "replace").decode("utf-8")


class _Budget:
    """Count nodes and array bytes, so that a small program cannot create a huge tree."""

    __slots__ = ("bytes", "nodes")

    def __init__(self) -> None:
        self.nodes = 0
        self.bytes = 0

    def spend(self, nbytes: int) -> None:
        self.bytes += nbytes
        if self.bytes > MAX_BYTES:
            _refuse(0)


# The two walks below take much of the time of grading apart from the student's own code: common types come first.


def _to_node(value: Any, budget: _Budget, depth: int) -> Any:
    budget.nodes += 1
    if depth > MAX_DEPTH or budget.nodes > MAX_NODES:
        _refuse(depth)
    kind = type(value)
    if kind is float or value is None or kind is bool:
        return value
    if kind is np.ndarray:
        return _array_node(value, budget)
    if kind is int:
        return _int_node(value)
    if issubclass(
        kind, str
    ):  # includes np.str_; subclasses are read by the base class's methods, because theirs could do anything
        budget.spend(str.__len__(value))
        return writable(value)
    if issubclass(kind, np.generic):
        return _array_node(np.asarray(value), budget)
    depth += 1
    if issubclass(kind, list):
        return _List([_to_node(item, budget, depth) for item in list.__iter__(value)])
    if issubclass(kind, tuple):
        return _Tuple([_to_node(item, budget, depth) for item in tuple.__iter__(value)])
    if issubclass(kind, dict):
        items = dict.items(value)
        return _Dict([(_key_node(key, budget, depth), _to_node(item, budget, depth)) for key, item in items])
    match value:
        case Raised(str() as name, str() as text, tuple() as lines) if all(map(_is_line, lines)):
            kept = (Line(line.number, readable(line.function), readable(line.source)) for line in lines[:MAX_DEPTH])
            return Raised(readable(name), readable(text), tuple(kept))
        case Opaque(str() as name, str() as text):
            return Opaque(readable(name), readable(text))
        case Fixture(str() as name, dict() as params):
            return _Fixture(readable(name), _to_node(params, budget, depth))
    return _opaque(value)


def _refuse(depth: int) -> NoReturn:
    if depth > MAX_DEPTH:
        raise CodecError(f"nested more than {MAX_DEPTH} deep")
    raise CodecError(f"too large: more than {MAX_NODES:,} values or {MAX_BYTES:,} bytes")


def _opaque(value: Any) -> Opaque:
    """The description of a value that the codec cannot represent, with its size if students often return that type."""
    name = readable(type(value).__name__)
    if isinstance(value, np.ndarray):
        return Opaque(name, f"of shape {value.shape}")
    if isinstance(value, set | frozenset):
        return Opaque(name, f"of {len(value)}")
    if _is_tensor(value):
        return Opaque("torch.Tensor", f"of shape {tuple(value.shape)}")
    return Opaque(name)


def _is_tensor(value: object) -> bool:
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)  # a tensor can only exist if torch is imported
    return isinstance(tensor, type) and isinstance(value, tensor)


def _is_line(value: object) -> bool:
    match value:
        case Line(number, str(), str()):
            return type(number) is int and 0 <= number < 2**31
    return False


def _int_node(value: int) -> int | _Int:
    if -(2**63) <= value < 2**63:
        return value
    if value.bit_length() > 4 * (MAX_HEX - 3):
        raise CodecError(f"an integer of more than {MAX_HEX - 3} hexadecimal digits")
    return _Int(hex(value))


def _key_node(key: object, budget: _Budget, depth: int) -> Any:
    """The key of a dict: a NumPy scalar counts as the number that it represents, alone and in a tuple. An array is not
    allowed.
    """
    if type(key) is str:
        return _to_node(key, budget, depth)
    node = _key_part(key, budget, depth)
    try:
        hash(_from_node(node, _Budget(), depth))
    except TypeError as error:
        raise CodecError("a dict key that cannot be one") from error
    return node


def _key_part(part: Any, budget: _Budget, depth: int) -> Any:
    if not issubclass(type(part), tuple):
        return _to_node(part.item() if isinstance(part, np.generic) else part, budget, depth)
    budget.nodes += 1
    if depth > MAX_DEPTH or budget.nodes > MAX_NODES:
        _refuse(depth)
    return _Tuple([_key_part(item, budget, depth + 1) for item in tuple.__iter__(part)])


def _is_carried(array: np.ndarray[Any, Any]) -> bool:
    """Whether the codec can represent this array without changes."""
    return array.dtype.str in DTYPES and array.ndim <= MAX_DIMENSIONS and array.nbytes <= MAX_BYTES


def _is_of_carried_arrays(value: dict[Any, Any]) -> bool:
    """Whether the codec can represent this dict without changes because it maps words to arrays, as weights do."""
    arrays = all(
        type(name) is str and name.isascii() and type(array) is np.ndarray and _is_carried(array)
        for name, array in value.items()
    )
    return arrays and len(value) < MAX_NODES // 2 and sum(len(n) + a.nbytes for n, a in value.items()) <= MAX_BYTES


_ENTRIES = {"O": "Python objects", "U": "text", "S": "bytes", "V": "records"}


def _array_node(array: np.ndarray[Any, Any], budget: _Budget) -> _Array | Opaque:
    name = array.dtype.str
    if name not in DTYPES:
        little = array.dtype.newbyteorder("<")
        if little.str not in DTYPES:
            entries = _ENTRIES.get(array.dtype.kind, f"dtype {array.dtype.name}")
            return Opaque("ndarray", f"of {entries}, shape {array.shape}")
        name, array = little.str, array.astype(little)
    if array.ndim > MAX_DIMENSIONS:
        raise CodecError(f"an array of {array.ndim} dimensions; at most {MAX_DIMENSIONS} are kept")
    budget.spend(array.nbytes)
    return _Array(name, list(array.shape), array.tobytes())


def _from_node(node: Any, budget: _Budget, depth: int) -> Any:
    budget.nodes += 1
    if depth > MAX_DEPTH or budget.nodes > MAX_NODES:
        _refuse(depth)
    kind = type(node)
    if kind in _PLAIN:
        return node
    if kind is _Array:
        return _array(node, budget)
    depth += 1
    if kind is _Dict:
        return {_key(key, budget, depth): _from_node(value, budget, depth) for key, value in node.items}
    if kind is _Tuple:
        return tuple([_from_node(item, budget, depth) for item in node.items])
    if kind is _List:
        return [_from_node(item, budget, depth) for item in node.items]
    if kind is _Int:
        return _big_int(node.hex)
    if kind is _Fixture:
        params = _from_node(node.params, budget, depth)
        if not isinstance(params, dict):
            raise CodecError("a fixture without parameters")
        return Fixture(node.kind, params)
    return node


def _key(node: Any, budget: _Budget, depth: int) -> Any:
    key = _from_node(node, budget, depth)
    if type(key) is not str:
        try:
            hash(key)
        except TypeError as error:
            raise CodecError("a dict key that cannot be one") from error
    return key


def _array(node: _Array, budget: _Budget) -> np.ndarray[Any, Any]:
    dtype = _DTYPES[node.dtype]  # from a fixed list, never a string from outside
    shape = node.shape
    if math.prod(shape) * dtype.itemsize != len(node.data):
        raise CodecError(f"an array of shape {shape} and dtype {node.dtype} in {len(node.data)} bytes")
    budget.spend(len(node.data))
    try:
        return np.frombuffer(node.data, dtype).reshape(shape).copy()
    except ValueError as error:
        raise CodecError(f"an array of shape {shape}: {error}") from error


def _big_int(text: str) -> int:
    if len(text) > MAX_HEX:
        raise CodecError(f"an integer of more than {MAX_HEX} characters")
    try:
        return int(text, 16)
    except ValueError as error:
        raise CodecError("an integer that is none") from error
