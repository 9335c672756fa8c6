"""The base of all errors that a command reports in one line, and what several of them say."""


class ExpectedError(Exception):
    """Something outside the program is wrong; the message says what, where, and what to do."""


def how_to_install(extra: str) -> str:
    """What installs an optional part of the course, such as "dask"."""
    return f"In the course's folder:  python -m pip install --editable '.[{extra}]'"
