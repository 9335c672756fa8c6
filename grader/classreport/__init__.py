"""One page on a whole class.

`gather` (stored results → a typed report), `anonymous`, `figures` (points, exercises, mistakes), `excerpts` (code
without comments and names), `names`, `choices` (what can be asked for), `page`, `lessons` (what to teach again),
`html`, `plots`, `style`, `tables` (JSON, CSV).
"""
