"""Hints and messages: what the Markdown file must hold, and what is said where it does not."""

import pytest

from grader.messages import MessageError, Messages, parse_messages

TEXT = """# rnn_step

## Hint 1

A question?

## Hint 2

An idea,
in two lines.

## Hint 3

```
the shape
```

## Mistake: no_bias

The bias
is missing.

## Tempting: no_bias

Drawings
leave it out.
"""


def test_hints_keep_their_lines_and_mistakes_become_one_paragraph():
    assert parse_messages(TEXT, "x.md") == Messages(
        ("A question?", "An idea,\nin two lines.", "```\nthe shape\n```"),
        {"no_bias": "The bias is missing."},
        {"no_bias": "Drawings leave it out."},
    )


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("## Hint 2\n", "", "'## Hint 2' is missing"),
        ("## Hint 3", "## Hint 2", "'Hint 2' appears twice"),
        ("## Hint 3", "## Hint 4", "'## Hint 3' is missing"),
        ("A question?", "", "there is no text below the heading 'Hint 1'"),
        ("## Mistake: no_bias", "## Mistake: no bias", "unknown heading 'Mistake: no bias'"),
        ("## Tempting: no_bias", "## Tempting: no bias", "unknown heading 'Tempting: no bias'"),
        ("## Mistake: no_bias", "## Error: no_bias", "unknown heading 'Error: no_bias'"),
        (TEXT, "", "'## Hint 1' is missing"),
    ],
)
def test_a_file_that_is_not_as_it_should_be_names_file_and_heading(old, new, says):
    with pytest.raises(MessageError) as caught:
        parse_messages(TEXT.replace(old, new), "x.md")
    assert str(caught.value).startswith("x.md: ")
    assert says in str(caught.value)
