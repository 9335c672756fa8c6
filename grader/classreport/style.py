"""What the plots and wide tables of the class report add to the style sheet of all pages.

The colours of the plots are those of Okabe and Ito, which people with colour-blindness can tell apart, darker or
lighter so that each has a contrast of at least 3 with the page; what is missing is an empty bar.
"""

REPORT_STYLE = """
:root { --passed: #0072b2; --failed: #b35a00; --error: #8a3d74; --timeout: #4a4a4a; --unimplemented: #85858f; }
@media screen and (prefers-color-scheme: dark) {
  :root { --passed: #56b4e9; --failed: #e69f00; --error: #cc79a7; --timeout: #f0f0f0; --unimplemented: #7d838c; }
}
body { max-width: 60rem; }
article { border-left-color: var(--line); }
section > p, article > p, li, blockquote { max-width: 46rem; }
caption { text-align: left; color: var(--quiet); font-size: .9rem; padding-bottom: .2rem; }
thead th { vertical-align: bottom; }
.sections { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; margin: .8rem 0 0; }
details.mistake { margin: .4rem 0; }
.narrow { max-width: 42rem; }
.wide { overflow-x: auto; margin: .8rem 0; }
.wide table { margin: 0; overflow-wrap: normal; }
.wide tbody th { min-width: 9rem; }
th.number, td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
th.number { white-space: normal; min-width: 5rem; }
figure { margin: 1rem 0; max-width: 34rem; }
figcaption { color: var(--quiet); font-size: .9rem; }
figure svg { display: block; width: 100%; height: auto; font: 10px system-ui, sans-serif; }
svg text { fill: var(--ink); }
svg .axis { stroke: var(--ink); stroke-width: 1; }
.passed { fill: var(--passed); } .failed { fill: var(--failed); } .error { fill: var(--error); }
.timeout { fill: var(--timeout); } .unimplemented { fill: var(--unimplemented); }
.missing { fill: none; stroke: var(--quiet); }
.key { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; margin: .3rem 0; }
.key svg { display: inline-block; width: .9rem; height: .9rem; vertical-align: -.1rem; margin-right: .35rem; }
.say { margin: .4rem 0; padding-left: .9rem; border-left: 4px solid var(--accent); }
.excerpts pre { margin: .4rem 0; overflow-x: auto; font-size: .85em; }
@media print {
  nav { display: none; }
  details.mistake:not([open])::details-content { content-visibility: hidden; block-size: 0; }
  .excerpts pre, figure { break-inside: avoid; }
  .wide { overflow: visible; }
  .wide table, .wide thead th { font-size: 8.5pt; }
  .wide th, .wide thead th.number { min-width: 0; }
  svg rect { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
