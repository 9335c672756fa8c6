"""The base of all errors that a command reports in one line."""


class ExpectedError(Exception):
    """Something outside the program is wrong; the message says what, where, and what to do."""
