"""The bytecode of all modules that this Python has imported from text, by their paths, as JSON of base64.

Run in a page's Python while the book is built, so that readers' browsers need not compile them. It is marked as valid
whatever the time of its source is, which is not there.
"""

import base64
import importlib.util
import json
import sys
from importlib._bootstrap_external import _code_to_hash_pyc

found = {}
for name, module in sorted(sys.modules.items()):
    spec = getattr(module, "__spec__", None)
    if spec is None or not (spec.origin or "").endswith(".py") or name == "in_page":
        continue
    source_hash = importlib.util.source_hash(spec.loader.get_source(name).encode())
    content = _code_to_hash_pyc(spec.loader.get_code(name), source_hash, False)
    found[spec.origin] = base64.b64encode(content).decode()
json.dumps(found)
