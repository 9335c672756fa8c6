"""What students wrote or named, made safe to show: the only way in which their texts reach a terminal, a log, a table
or a page.

| function | for | line breaks |
|---|---|---|
| `harmless` | a text that may have lines: code, an answer, a report | stay |
| `one_line` | a line of output, and whatever stands in one: a name, an id, a reason | are replaced |
| `named`, `some` | a name, or some names, in a line or a cell of limited width | are replaced |
| `json_text` | JSON for other programs: the same values, with escapes | are escapes already |

Whatever cannot be seen is replaced by U+FFFD, one for one: characters that control a terminal or the direction of
writing, that have no width, and lone surrogates. So no name can forge a line, hide a part of another, or look the same
as another. Joiners between characters beyond ASCII stay, because Persian, Hindi and emoji are written with them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

LONGEST_NAME = 255
Called = Mapping[str, str]  # how people call a student, by id; the id itself if it is not there
NO_NAMES: Called = MappingProxyType({})
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff"
_DIRECTIONS = "\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"
_INVISIBLE = "\u00ad\u034f\u115f\u1160\u180b-\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
_TAGS = "\U000e0000-\U000e0fff"  # an alphabet without shapes
_LONE_JOINERS = "(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
_UNSAFE = re.compile(f"[{_CONTROLS}{_DIRECTIONS}{_INVISIBLE}{_TAGS}]|{_LONE_JOINERS}")


def harmless(text: str) -> str:
    """Replace what controls a terminal or the direction of writing, what is invisible, and lone surrogates, by U+FFFD;
    line breaks and tabs stay.
    """
    return text if text.isascii() and text.isprintable() else _UNSAFE.sub(_REPLACEMENT, text)


def one_line(text: str) -> str:
    """The same for a line: a line break is replaced too, and a tab by a space."""
    return harmless(text).replace("\n", _REPLACEMENT).replace("\t", " ")


def named(name: str, most: int = LONGEST_NAME) -> str:
    """A name in one line of at most this many characters."""
    return shortened(one_line(name), most)


def some(names: Sequence[str], most: int = 8) -> str:
    """The first of these names in a line, and how many more there are."""
    more = len(names) - most
    return ", ".join(map(named, names[:most])) + (f" and {more} more" if more > 0 else "")


def one_form(name: str) -> str:
    """A name in the one Unicode form (NFC) in which names are stored and compared."""
    return unicodedata.normalize("NFC", name)


def told_apart(names: Sequence[str]) -> list[str]:
    """These names, with the code points of what is not ASCII in those that look like another one."""
    looks = Counter(one_form(named(name)) for name in set(names))
    return [f"{named(name)} ({_points(name)})" if looks[one_form(named(name))] > 1 else name for name in names]


def _points(name: str) -> str:
    return " ".join(f"U+{ord(each):04X}" for each in name if not each.isascii()) or "all ASCII"


def shortened(text: str, most: int) -> str:
    """The text, cut after this many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def json_text(text: str) -> str:
    """The same JSON without a character that `harmless` would replace: what stands in its strings becomes `\\u…`."""
    return _UNSAFE.sub(lambda found: _escaped(found[0]), text)


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
