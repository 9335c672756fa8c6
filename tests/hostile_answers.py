"""Answers whose markup would run, fetch or deceive in the browser of whoever grades them. What runs calls `ran`."""

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
_SVG = "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIG9ubG9hZD0icGFyZW50LnJhbigpIi8+"  # <svg … onload=…/>

HOSTILE = {
    "script": "<script>ran('script')</script>",
    "script in a line": "So <b>it</b> is <script>ran('inline')</script>.",
    "script in another case": "<ScRiPt >ran('case')</sCrIpT >",
    "unclosed script": "<script src=//example.org/x.js ",
    "onerror": "<img src=x onerror=\"ran('onerror')\">",
    "onerror of a picture that loads": f"<img src=data:image/png;base64,{PICTURE} onload=ran('onload')>",
    "onerror through an attribute": "![a\" onerror=\"ran('alt')](x.png)",
    "javascript link": "[click](javascript:ran('link'))",
    "javascript link, encoded": "[click](java&#115;cript:ran('encoded'))",
    "javascript link, HTML": "<a id=bait href=\" java\tscript:ran('href')\">click</a>",
    "data link": "[click](data:text/html,<script>opener.ran('data')</script>)",
    "link to the server": "[click](/formgrader/?path=term/submitted/eve/ch01)",
    "picture from the server": "![click](/formgrader/?path=term/submitted/eve/ch01)",
    "picture from elsewhere": "![x](https://example.org/seen.png) <img src=//example.org/seen.png>",
    "iframe": "<iframe srcdoc=\"<script>parent.ran('iframe')</script>\"></iframe>",
    "svg": "<svg onload=\"ran('svg')\"><script>ran('svg script')</script></svg>",
    "svg picture": f"![x](data:image/svg+xml;base64,{_SVG})",
    "math": "<math><mtext><table><mglyph><style><img src=x onerror=ran('math')></style></mglyph></table></math>",
    "style": "<style>body { display: none } @import '//example.org/x.css';</style><p style='position: fixed'>",
    "form": "<form action=/logout><input autofocus onfocus=ran('focus')><button>ok</button></form>",
    "what scripts look for": "<div class='nbgrader_cell'><span class='btn full-credit' id='why'>ok</span></div>",
    "meta": "<meta http-equiv=refresh content='0; url=javascript:ran()'><base href=//example.org/>",
    "object": "<object data='data:text/html,<script>ran()</script>'></object><embed src=javascript:ran()>",
    "details": "<details open ontoggle=ran('details')><summary>a</summary></details>",
    "closing the page's own tags": "</div></div></body></html><script>ran('closed')</script>",
    "in a formula": "$$</span><script>ran('formula')</script>$$ and $\\href{javascript:ran('tex')}{x}$",
    "in code": "```html\n</pre><script>ran('code')</script>\n```\n`<img src=x onerror=ran('tick')>`",
    "in the language of code": "```\"><img/src=x/onerror=ran('info')>\nx\n```",
    "in a title": "![a](attachment:a.png \"x' onload='ran()\")",
    "comment": "<!--><img src=x onerror=ran('comment')>-->",
    "mermaid": "```mermaid\ngraph TD; A[<img src=x onerror=ran('mermaid')>]\n```",
}
