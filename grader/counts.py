"""Numbers in sentences."""


def number(value: float) -> str:
    """Points with at most two decimals and no trailing zeros: 2, 1.5, 0.33."""
    return f"{round(value, 2):.12g}"


def counted(count: float, what: str) -> str:
    """'1 point', '2 points'."""
    return f"{number(count)} {what}{'' if count == 1 else 's'}"
