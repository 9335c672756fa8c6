"""Prints, raises and names things in HTML, in terminal codes and in formulas of spreadsheets.

Must: what a report takes from the student's words is escaped; the rest is the text of a notebook's output.
Points: 0, 2
Seen: <script>
"""
# %% rnn_step
class Loud(Exception):
    pass


Loud.__name__ = "<script>alert(1)</script>\x1b[2J=cmd|' /C calc'!A0"
raise Loud("<img src=x onerror=alert(2)>\x1b]0;title\x07")
