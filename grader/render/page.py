"""A self-contained HTML page, light and dark, for screens, phones and paper. It runs no script and fetches nothing."""

from __future__ import annotations

from grader.shown import harmless

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def html_page(title: str, header: str, main: str, footer: str, more_style: str = "") -> str:
    """The whole page. All arguments are HTML, so text in them is escaped; `more_style` is added to the style sheet.
    Whatever students' texts contain, no character reverses or hides a part of the page.
    """
    page = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{_STYLE}{more_style}</style>
</head>
<body>
<header>
{header}</header>
<main>
{main}</main>
<footer>
{footer}</footer>
</body>
</html>
"""
    return harmless(page)


_STYLE = """
:root {
  color-scheme: light dark;
  --ground: #ffffff; --ink: #1f2328; --quiet: #4f5866; --line: #d0d5db; --box: #f5f6f8; --accent: #0b6a75;
  --right: #2a7f62; --wrong: #b36b00; --open: #7a7a7a; --stamp: #fff3d6;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --ground: #15181c; --ink: #e6e8eb; --quiet: #a9b1bb; --line: #3d444d; --box: #1f242a; --accent: #6fd0da;
    --right: #4fc497; --wrong: #f0a541; --open: #9aa0a8; --stamp: #3a2f12;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 48rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.6 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .5rem; }
h3 { font-size: 1.1rem; margin: 0; }
h4 { font-size: 1rem; margin: 1rem 0 .2rem; }
p { margin: .4rem 0; }
header p, footer, .quiet { color: var(--quiet); }
footer { margin-top: 3rem; padding-top: .5rem; border-top: 1px solid var(--line); font-size: .9rem; }
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: .9em; }
pre { background: var(--box); padding: .4rem .6rem; border-radius: 4px; overflow-wrap: normal; }
.total { font-size: 1.15rem; }
.stamp {
  background: var(--stamp); border: 1px solid var(--wrong); border-radius: 4px; padding: .6rem .9rem; margin: 1rem 0;
}
table { border-collapse: collapse; width: 100%; margin: .8rem 0; }
th, td {
  text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line);
  font-weight: 400;
}
thead th { font-size: .9rem; color: var(--quiet); }
tbody th[scope=rowgroup] { font-weight: 600; padding-top: .9rem; }
td.points, th.points { text-align: right; padding-right: 0; white-space: nowrap; }
tfoot th, tfoot td { font-weight: 600; border-bottom: 0; }
article { margin: 1.2rem 0 2rem; padding-left: .9rem; border-left: 4px solid var(--wrong); }
article.unimplemented, article.missing { border-left-color: var(--open); }
article dl { margin: .2rem 0 0; }
.comments dd { margin: 0 0 .8rem; padding-left: .9rem; border-left: 4px solid var(--line); white-space: pre-wrap; }
.comments dt { font-weight: 600; }
.formula { display: inline-block; max-width: 100%; overflow-x: auto; vertical-align: middle; }
.kept { white-space: nowrap; }
details { margin: .8rem 0 .4rem; border: 1px solid var(--line); border-radius: 4px; padding: .3rem .8rem; }
summary { cursor: pointer; color: var(--accent); }
@media print {
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  article, tr { break-inside: avoid; }
  h2, h3, h4 { break-after: avoid; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  details::details-content { content-visibility: visible; block-size: auto; }
}
"""
