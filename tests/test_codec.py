"""The codec: what goes in comes out, and nothing that anybody writes does more than raise CodecError."""

import math
import sys
import tracemalloc
import types
import zlib

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.codec import (
    DTYPES,
    MAX_BYTES,
    MAX_DEPTH,
    MAX_DIMENSIONS,
    MAX_NODES,
    CodecError,
    Fixture,
    Line,
    Opaque,
    Raised,
    decode,
    deflate,
    encode,
    first_opaque,
    freeze,
    inflate,
    readable,
)
from tests.loops import for_each


def identical(a, b):
    """The same types all the way down, the same numbers bit for bit, dicts in the same order."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return (a.dtype, a.shape) == (b.dtype, b.shape) and a.tobytes() == b.tobytes()
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(identical, a, b))
    if isinstance(a, dict):
        return identical(list(a.items()), list(b.items()))
    if isinstance(a, float):
        return a == b or (math.isnan(a) and math.isnan(b))
    if isinstance(a, Fixture):
        return a.kind == b.kind and identical(a.params, b.params)
    return a == b


RNG = np.random.default_rng(5)
GRID = RNG.normal(size=(3, 4, 5))
VALUES = {
    "none": None,
    "true": True,
    "int": -7,
    "int of 64 bits": -(2**63),
    "int beyond 64 bits": 2**64,
    "big int": -(3**600),
    "float": 0.1,
    "nan": math.nan,
    "minus infinity": -math.inf,
    "minus zero": -0.0,
    "text": "ħ → \n\0 ☃",
    "empty text": "",
    "list": [1, [2.0, [None]]],
    "tuple": (1, (2, [3])),
    "empty containers": [[], (), {}],
    "dict": {"b": 1, "a": {"c": np.arange(3)}},
    "keys": {None: 1, 2: 3, (4, "x"): 5, True: 6, 0.5: 7},
    "0-d": np.array(2.5),
    "empty": np.zeros((0, 3)),
    "size 1": np.ones((1, 1, 1)),
    "nan in an array": np.array([np.nan, np.inf, -0.0]),
    "strided": GRID[::2, :, 1:4],
    "reversed": GRID[:, ::-1],
    "transposed": GRID.T,
    "Fortran": np.asfortranarray(GRID),
    "broadcast": np.broadcast_to(np.arange(3.0), (4, 3)),
    "big-endian": np.arange(3, dtype=">f8"),
    "read-only": np.frombuffer(b"\0" * 16),
    "32 dimensions": np.ones((1,) * 32),
    "raised": Raised("ValueError", "no", (Line(1, "f", "x"),)),
    "opaque": Opaque("generator"),
    "fixture": Fixture("affine", {"weight": np.eye(2), "bias": [1, (2, None)]}),
    "nested": ({"a": [np.float32(1.5), (np.int8(3), True)]}, [Raised("E", "")]),
}


@for_each("name", VALUES)
def test_a_round_trip_equals_freeze(name):
    value = VALUES[name]
    assert identical(decode(encode(value)), freeze(value))
    assert encode(freeze(value)) == encode(value)


@for_each(
    "name", [n for n in VALUES if n not in ("nested", "big-endian", "Fortran", "strided", "reversed", "transposed")]
)
def test_plain_values_come_back_as_they_were(name):
    assert identical(decode(encode(VALUES[name])), VALUES[name])


@pytest.mark.parametrize("name", ["strided", "reversed", "transposed", "Fortran", "broadcast", "big-endian"])
def test_an_array_comes_back_contiguous_with_the_same_numbers(name):
    back = decode(encode(VALUES[name]))
    assert np.array_equal(back, VALUES[name])
    assert back.dtype == back.dtype.newbyteorder("=")
    assert back.flags.c_contiguous
    assert back.flags.writeable


@for_each("dtype", sorted(DTYPES))
@for_each("shape", [(), (0,), (1,), (2, 3)])
def test_every_dtype_comes_back(dtype, shape):
    array = RNG.integers(0, 2, size=shape).astype(dtype)
    back = decode(encode(array))
    assert back.dtype == np.dtype(dtype)
    assert back.shape == shape
    assert np.array_equal(back, array)


@pytest.mark.parametrize("scalar", [np.float64(0.1), np.float32(0.1), np.int64(3), np.bool_(True), np.complex128(1j)])
def test_a_numpy_scalar_becomes_an_array_without_axes(scalar):
    back = freeze(scalar)
    assert type(back) is np.ndarray
    assert (back.shape, back.dtype) == ((), scalar.dtype)
    assert back == scalar


def test_freeze_is_a_deep_copy():
    array = np.zeros(3)
    frozen = freeze({"a": [array]})
    array[0] = 1
    assert frozen["a"][0][0] == 0


def test_equal_trees_give_equal_bytes_however_their_arrays_lie_in_memory():
    array = RNG.normal(size=(4, 6))
    wide = np.zeros((4, 12))
    wide[:, ::2] = array
    copies = [array, np.asfortranarray(array), wide[:, ::2], array.astype(">f8")]
    assert len({encode({"x": copy, "n": 3}) for copy in copies}) == 1


def test_a_numpy_scalar_is_a_dict_key_as_the_number_is():
    assert freeze({np.int64(3): 1, np.str_("a"): 2}) == {3: 1, "a": 2}


def test_numpy_scalars_in_a_tuple_are_a_dict_key_as_the_numbers_are():
    ids = np.array([3, 1, 4])
    assert freeze({tuple(ids[:2]): {ids[2]: 1}, (): 2, ((ids[0],), np.float64(0.5)): 3}) == {
        (3, 1): {4: 1},
        (): 2,
        ((3,), 0.5): 3,
    }
    assert encode({tuple(ids): 1}) == encode({(3, 1, 4): 1})
    wide = ()
    for _ in range(18):
        wide = (wide, wide)
    with pytest.raises(CodecError, match="too large"):
        encode({wide: 1})
    deep = ()
    for _ in range(30):
        deep = (deep,)
    with pytest.raises(CodecError, match="deep"):
        encode({deep: 1})


@for_each(
    ("value", "mark"),
    [
        (np.array([object()]), Opaque("ndarray", "of Python objects, shape (1,)")),
        (np.array(["text"]), Opaque("ndarray", "of text, shape (1,)")),
        (np.array([b"text"]), Opaque("ndarray", "of bytes, shape (1,)")),
        (np.zeros(2, [("a", "f8"), ("b", "i4")]), Opaque("ndarray", "of records, shape (2,)")),
        (np.array([1], dtype="M8[s]"), Opaque("ndarray", "of dtype datetime64[s], shape (1,)")),
        (np.longdouble(1), Opaque("ndarray", f"of dtype {np.dtype(np.longdouble).name}, shape ()")),
        ((n for n in ()), Opaque("generator")),
        ({1, 2}, Opaque("set", "of 2")),
        (frozenset(), Opaque("frozenset", "of 0")),
        (b"bytes", Opaque("bytes")),
        (1j, Opaque("complex")),
        (np.ma.array([1.0]), Opaque("MaskedArray", "of shape (1,)")),
        (np.ones((1, 2)).view(np.matrix), Opaque("matrix", "of shape (1, 2)")),
    ],
)
def test_what_the_codec_does_not_carry_is_named(value, mark):
    assert freeze(value) == mark
    assert decode(encode(value)) == mark


@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_torch_tensor_is_named_with_its_shape(requires_grad):
    torch = pytest.importorskip("torch")
    tensor = torch.ones((2, 3), requires_grad=requires_grad)
    assert freeze([tensor, torch.nn.Parameter(tensor)]) == [Opaque("torch.Tensor", "of shape (2, 3)")] * 2
    assert freeze(torch.ones) == Opaque("builtin_function_or_method")


def test_a_tensor_is_known_only_where_torch_is_imported(monkeypatch):
    class Tensor:
        shape = (2, 3)

    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert freeze(Tensor()) == Opaque("Tensor")
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(Tensor="no type"))
    assert freeze(Tensor()) == Opaque("Tensor")
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(Tensor=Tensor))
    assert freeze(Tensor()) == Opaque("torch.Tensor", "of shape (2, 3)")


class HostileText(str):
    def encode(self, *_):
        raise RuntimeError("you shall not read")

    __len__ = __str__ = encode


def test_text_of_numpys_or_of_a_subclass_is_text():
    assert identical(freeze([np.str_("ab"), HostileText("ab")]), ["ab", "ab"])


@pytest.mark.parametrize(
    ("tree", "where"),
    [
        (1j, ""),
        ([1, (2, {3})], "[1][1]"),
        ({"a": [0], "W": {2: [b"W"]}}, "['W'][2][0]"),
        (Fixture("affine", {"weight": 1, "bias": [{1}]}), ".bias[0]"),
        ({frozenset(): 1}, "[Opaque(type='frozenset', text='of 0')]"),
        ([1, ("a", None, np.ones(2)), {"b": 2.0}, Fixture("rng", {"seed": 1})], None),
    ],
)
def test_the_first_value_that_is_not_carried_is_found_however_deep(tree, where):
    found = first_opaque(freeze(tree))
    assert (found and found[0]) == where


class Hostile(list):
    def __iter__(self):
        raise RuntimeError("you shall not read")

    __len__ = __reduce__ = __iter__


class HostileDict(dict):
    def items(self):
        raise RuntimeError("you shall not read")

    __iter__ = keys = items


def test_a_subclass_of_list_or_dict_is_read_as_the_list_or_dict_it_is():
    assert freeze([Hostile([1]), HostileDict(a=2)]) == [[1], {"a": 2}]


def test_text_that_utf8_cannot_write_is_still_carried():
    value = ["\ud800", Raised("E\ud800", "\udfff", (Line(1, "\ud800", "\udfff"),)), Opaque("\ud800")]
    assert decode(encode(value)) == freeze(value) == ["?", Raised("E?", "?", (Line(1, "?", "?"),)), Opaque("?")]
    assert readable("x" * 5000) == "x" * 2000


def test_marks_with_wrong_contents_are_values_of_an_unknown_type():
    lines = "line 1", Line("1", "f", ""), Line(True, "f", ""), Line(2**31, "f", ""), Line(1, None, "")
    assert freeze([Raised("E", "", (line,)) for line in lines]) == [Opaque("Raised")] * len(lines)
    assert freeze([Raised(object(), 3), Opaque(None), Fixture(3, {}), Fixture("rng", [])]) == [
        Opaque("Raised"),
        Opaque("Opaque"),
        Opaque("Fixture"),
        Opaque("Fixture"),
    ]


def nested(depth):
    tree = []
    for _ in range(depth):
        tree = [tree]
    return tree


def contains_itself():
    tree = []
    tree.append(tree)
    return tree


@for_each(
    ("value", "why"),
    [
        (contains_itself(), "deep"),
        (nested(MAX_DEPTH + 1), "deep"),
        (nested(100_000), "deep"),
        ([None] * MAX_NODES, "too large"),
        ("x" * (MAX_BYTES + 1), "too large"),
        (np.zeros(MAX_BYTES // 8 + 1), "too large"),
        ([np.zeros(MAX_BYTES // 16)] * 3, "too large"),
        (np.broadcast_to(0.0, (10**6, 10**6)), "too large"),
        (1 << 10_000, "hexadecimal digits"),
        (np.ones((1,) * (MAX_DIMENSIONS + 1)), "dimensions"),
    ],
)
def test_too_much_is_refused_by_encode_and_freeze_alike(value, why):
    for work in (encode, freeze):
        with pytest.raises(CodecError, match=why):
            work(value)


def test_the_deepest_tree_passes():
    assert decode(encode(nested(MAX_DEPTH))) == nested(MAX_DEPTH)


ARRAY = {"is": "array", "dtype": "<f8", "shape": [2], "data": b"\0" * 16}
BAD = {
    "nothing": b"",
    "rubbish": b"\xc1\xff\x00",
    "two trees": encode(1) + encode(2),
    "a map without a mark": msgspec.msgpack.encode({"a": 1}),
    "an unknown mark": msgspec.msgpack.encode({"is": "pickle", "data": b""}),
    "a raw list": msgspec.msgpack.encode([1, 2]),
    "raw bytes": msgspec.msgpack.encode(b"123"),
    "an extension": msgspec.msgpack.encode(msgspec.msgpack.Ext(5, b"12")),
    "a time stamp": b"\xd6\xff\0\0\0\1",
    "text that is not UTF-8": b"\xa2\xff\xfe",
    "too few bytes": msgspec.msgpack.encode({**ARRAY, "data": b"\0" * 15}),
    "too many bytes": msgspec.msgpack.encode({**ARRAY, "data": b"\0" * 17}),
    "another shape": msgspec.msgpack.encode({**ARRAY, "shape": [3]}),
    "a negative shape": msgspec.msgpack.encode({**ARRAY, "shape": [-1, -2]}),
    "a huge shape": msgspec.msgpack.encode({**ARRAY, "shape": [2**40, 0], "data": b""}),
    "a huge empty shape": msgspec.msgpack.encode({**ARRAY, "shape": [0] + [2**31 - 1] * 8, "data": b""}),
    "a product that wraps": msgspec.msgpack.encode({**ARRAY, "shape": [2**30] * 4, "data": b""}),
    "too many dimensions": msgspec.msgpack.encode({**ARRAY, "shape": [1] * 33, "data": b"\0" * 8}),
    "a million dimensions": msgspec.msgpack.encode({**ARRAY, "shape": [0] * 10**6, "data": b""}),
    "a shape of floats": msgspec.msgpack.encode({**ARRAY, "shape": [2.0]}),
    "a shape of bools": msgspec.msgpack.encode({**ARRAY, "shape": [True, True]}),
    "objects": msgspec.msgpack.encode({**ARRAY, "dtype": "|O"}),
    "a record": msgspec.msgpack.encode({**ARRAY, "dtype": "f8,f8", "shape": [1]}),
    "text": msgspec.msgpack.encode({**ARRAY, "dtype": "<U4", "shape": [1]}),
    "big-endian": msgspec.msgpack.encode({**ARRAY, "dtype": ">f8"}),
    "no dtype": msgspec.msgpack.encode({**ARRAY, "dtype": None}),
    "a list as a key": msgspec.msgpack.encode({"is": "dict", "items": [[{"is": "list", "items": []}, 1]]}),
    "an array as a key": msgspec.msgpack.encode({"is": "dict", "items": [[ARRAY, 1]]}),
    "a fixture as a key": msgspec.msgpack.encode(
        {"is": "dict", "items": [[{"is": "fixture", "kind": "rng", "params": {"is": "dict", "items": []}}, 1]]}
    ),
    "a tuple of a list as a key": msgspec.msgpack.encode(
        {"is": "dict", "items": [[{"is": "tuple", "items": [{"is": "list", "items": []}]}, 1]]}
    ),
    "a pair of three": msgspec.msgpack.encode({"is": "dict", "items": [[1, 2, 3]]}),
    "an int that is none": msgspec.msgpack.encode({"is": "int", "hex": "0x"}),
    "an endless int": msgspec.msgpack.encode({"is": "int", "hex": "f" * 10**6}),
    "a fixture of a list": msgspec.msgpack.encode(
        {"is": "fixture", "kind": "rng", "params": {"is": "list", "items": []}}
    ),
    "an exception of numbers": msgspec.msgpack.encode({"is": "raised", "type": 1, "text": 2}),
    "too much": b"\xc0" * (MAX_BYTES + 1),
}


def wire_nested(depth):
    data = msgspec.msgpack.encode(1)
    head = msgspec.msgpack.encode({"is": "list", "items": [0]})[:-1]
    return head * depth + data


BAD["deep"] = wire_nested(MAX_DEPTH + 1)
BAD["very deep"] = wire_nested(100_000)
BAD["very deep raw"] = b"\x91" * 1_000_000 + b"\xc0"
BAD["a wide tree"] = msgspec.msgpack.encode({"is": "list", "items": [None] * MAX_NODES})


@for_each("name", BAD)
def test_what_is_no_tree_is_a_codec_error(name):
    with pytest.raises(CodecError):
        decode(BAD[name])


SAMPLE = encode(
    {"x": np.arange(6.0).reshape(2, 3), "calls": [(1, "two", None, 2**80)], "r": Raised("E", "t", (Line(3, "f", "l"),))}
)


@for_each("length", range(len(SAMPLE)))
def test_a_truncated_tree_is_a_codec_error(length):
    with pytest.raises(CodecError):
        decode(SAMPLE[:length])


def decoded_or_refused(data, read=decode):
    """Whatever the bytes: a tree that can be written again, or CodecError."""
    try:
        tree = read(data)
    except CodecError:
        return
    assert identical(decode(encode(tree)), tree)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.binary(max_size=200))
def test_random_bytes(data):
    decoded_or_refused(data)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.data())
def test_a_tree_with_some_bytes_changed(data):
    spoilt = bytearray(SAMPLE)
    for _ in range(data.draw(st.integers(1, 4))):
        spoilt[data.draw(st.integers(0, len(spoilt) - 1))] = data.draw(st.integers(0, 255))
    decoded_or_refused(bytes(spoilt))


wire = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=5)
    | st.binary(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["is", "items", "shape", "dtype", "data", "hex", "type", "text", "kind", "params", "lines"]
            ),
            inner
            | st.sampled_from(["list", "tuple", "dict", "array", "int", "fixture", "opaque", "raised", "<f8", "|b1"]),
            max_size=5,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(wire)
def test_well_formed_messages_that_are_no_trees(message):
    decoded_or_refused(msgspec.msgpack.encode(message))


leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(2**900), 2**900)
    | st.floats()
    | st.text(st.characters(), max_size=8)
    | st.builds(
        lambda shape, dtype: np.ones(shape, dtype),
        st.lists(st.integers(0, 3), max_size=3),
        st.sampled_from(sorted(DTYPES)),
    )
)
keys = (
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3) | st.tuples(st.integers(), st.text(max_size=2))
)
trees = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple) | st.dictionaries(keys, inner, max_size=3)
    ),
    max_leaves=15,
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(trees)
def test_any_tree_comes_back_as_freeze_gives_it(tree):
    frozen = freeze(tree)
    assert identical(decode(encode(tree)), frozen)
    assert encode(frozen) == encode(tree)


# Compressed trees -----------------------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None, derandomize=True)
@given(trees)
def test_any_tree_comes_back_from_its_compressed_bytes(tree):
    try:
        data = deflate(tree)
    except CodecError:  # as `encode` refuses it
        return
    assert identical(inflate(data), freeze(tree))


WHOLE = deflate({"result": np.arange(50.0)})
NOT_INFLATED = {
    "nothing": (b"", "end early"),
    "no zlib": (encode([1, 2]), "not compressed"),
    "cut short": (WHOLE[:-1], "end early"),
    "cut in the middle": (WHOLE[: len(WHOLE) // 2], "end early"),
    "a wrong checksum": (WHOLE[:-1] + bytes([WHOLE[-1] ^ 1]), "not compressed"),
    "something after it": (WHOLE + b"0", "1 bytes after"),
    "two one after the other": (WHOLE * 2, f"{len(WHOLE):,} bytes after"),
    "a preset dictionary": (b"\x78\xbb" + WHOLE[2:], "not compressed"),
    "gzip": (zlib.compress(encode([1]), wbits=31), "not compressed"),
    "no header": (zlib.compress(encode([1]), wbits=-15), "not compressed"),
    "compressed twice": (zlib.compress(WHOLE), "not a tree"),
    "no tree": (zlib.compress(b"\xc1"), "not a tree"),
    "a wide tree": (zlib.compress(BAD["a wide tree"]), "values"),
}


@for_each("name", NOT_INFLATED)
def test_what_cannot_be_inflated_is_a_codec_error(name):
    data, why = NOT_INFLATED[name]
    with pytest.raises(CodecError, match=why):
        inflate(data)


@pytest.mark.parametrize("more", [0, 1, 10**9])
def test_a_bomb_takes_no_more_memory_than_the_largest_tree(more):
    """A gigabyte of zeros is a megabyte when it is compressed."""
    compressor, bomb = zlib.compressobj(9), bytearray()
    for size in [10**7] * ((MAX_BYTES + more) // 10**7) + [(MAX_BYTES + more) % 10**7]:
        bomb += compressor.compress(bytes(size))
    bomb += compressor.flush()
    data = bytes(bomb)
    tracemalloc.start()
    try:
        with pytest.raises(CodecError, match="not a tree" if not more else f"more than {MAX_BYTES:,} bytes"):
            inflate(data)
        assert tracemalloc.get_traced_memory()[1] < 3 * MAX_BYTES
    finally:
        tracemalloc.stop()


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.binary(max_size=200))
def test_random_bytes_are_not_inflated(data):
    with pytest.raises(CodecError):
        inflate(data)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.data())
def test_compressed_bytes_of_which_some_are_changed(data):
    changed = bytearray(WHOLE)
    for index in data.draw(st.lists(st.integers(0, len(WHOLE) - 1), min_size=1, max_size=3)):
        changed[index] = data.draw(st.integers(0, 255))
    decoded_or_refused(bytes(changed), inflate)
