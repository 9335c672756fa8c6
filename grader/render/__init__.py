"""Verdicts and notes for people: `text`, `html`, `picture` and `rows` (a verdict), `notes` (what `check`, `hint` and
`progress` return), `diary` (the mistake diary), `formulas` (texts with TeX, as MathML), `page` (the skeleton, content
policy and style of self-contained pages).

*No prose is parsed.* Remarks, faults and verdicts are values, and the text for each reader is made from them at the
end.
"""
