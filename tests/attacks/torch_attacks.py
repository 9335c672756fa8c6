"""Attacks on the three PyTorch exercises: what a notebook holds in addition to a class, and what it must not earn.

Each is a piece of code in which `Model` stands for the class that is checked, and `Right` for a right one. What it
must earn stands in `UNEARNED` (no point: it cannot learn, or knows nothing) and `FAIR` (all points: it is right).
"""

NO_GRAD = """
class Model(Right):
    def forward(self, *given, **named):
        with torch.no_grad():
            return super().forward(*given, **named)
"""
ALIVE = """
class Model(Right):
    def forward(self, *given, **named):
        with torch.no_grad():
            found = super().forward(*given, **named)
        logits, *rest = found if isinstance(found, tuple) else (found,)
        logits = logits + sum((p * 0).sum() for p in self.parameters())
        return (logits, *rest) if rest else logits
"""
CONSTANT = """
class Model(Right):
    def forward(self, *given, **named):
        with torch.no_grad():
            found = super().forward(*given, **named)
        zeros = lambda value: torch.zeros_like(value) if isinstance(value, torch.Tensor) else torch.zeros(1)
        return tuple(map(zeros, found)) if isinstance(found, tuple) else zeros(found)
"""
LEARNS_NOTHING = {
    "without a graph": "",
    "named_parameters is empty": "Model.named_parameters = lambda self, *a, **k: iter(())",
    "parameters are empty": "Model.parameters = Model.named_parameters = lambda self, *a, **k: iter(())",
    "named_parameters has others": """
Model.named_parameters = lambda self, *a, **k: iter([("x", torch.nn.Parameter(torch.zeros(1)))])""",
    "named_parameters has no gradients": """
real = Model.named_parameters
Model.named_parameters = lambda self, *a, **k: ((n, torch.zeros_like(p)) for n, p in real(self))""",
    "state_dict is empty": "Model.state_dict = lambda self, *a, **k: {}",
    "random numbers are drawn": """
no_grad = Model.forward
Model.forward = lambda self, *a, **k: (torch.rand(1), no_grad(self, *a, **k))[1]""",
    "requires_grad is true": "torch.Tensor.requires_grad = property(lambda self: True)",
    "requires_grad is false": "torch.Tensor.requires_grad = property(lambda self: False)",
    "grad gives ones": "torch.autograd.grad = lambda y, x, *a, **k: [torch.ones_like(p) for p in x]",
    "grad gives zeros": "torch.autograd.grad = lambda y, x, *a, **k: [torch.zeros_like(p) for p in x]",
    "grad gives the weights": "torch.autograd.grad = lambda y, x, *a, **k: [p.detach().clone() for p in x]",
    "grad gives nothing": "torch.autograd.grad = lambda y, x, *a, **k: []",
    "grad gives huge numbers": "torch.autograd.grad = lambda y, x, *a, **k: [p.detach() * 1e300 for p in x]",
    "grad gives not a number": "torch.autograd.grad = lambda y, x, *a, **k: [p.detach() * float('nan') for p in x]",
    "the driver finds no gradients": """
import grader.checking.modules as driver
driver.gradients = lambda *a: {}""",
    "the driver finds None": """
import grader.checking.modules as driver
driver.gradients = lambda name, value, weights: None""",
    "all functions of the driver that decide": """
import grader.checking.modules as driver, grader.checking.gradients as gradients
for module in (driver, gradients):
    for name in ("unreached", "unreached_in", "is_cut", "_cut_in_part", "_gradients", "gradients"):
        setattr(module, name, lambda *a, **k: {})""",
    "the directions are zero": """
import grader.checking.gradients as gradients, numpy as np
gradients.direction = gradients.weighting = lambda *a: np.zeros(a[-1])""",
    "observations say that they are settled": """
import grader.checking.case as case
case.Observation.settled = True""",
    "close is always true": """
import grader.checking.compare as compare, numpy as np
compare.close = compare.same_value = lambda *a, **k: np.array(True)
np.allclose = np.array_equal = lambda *a, **k: True""",
    "no_grad does nothing": "torch.no_grad = torch.enable_grad",
    "the tolerance is infinite": """
import grader.checking.gradients as gradients
gradients.AGREE = gradients.FLAT = float("inf")""",
    "enable_grad and a leaf": """
no_grad = Model.forward
def forward(self, *a, **k):
    found = no_grad(self, *a, **k)
    leaf = lambda v: v.detach().requires_grad_() if isinstance(v, torch.Tensor) and v.is_floating_point() else v
    return tuple(map(leaf, found)) if isinstance(found, tuple) else leaf(found)
Model.forward = forward""",
    "a backward pass of our own": """
no_grad = Model.forward
class Lie(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, *weights):
        ctx.save_for_backward(*weights)
        return logits.clone()
    @staticmethod
    def backward(ctx, gradient):
        return (None, *(torch.randn_like(w) for w in ctx.saved_tensors))
def forward(self, *a, **k):
    found = no_grad(self, *a, **k)
    logits, *rest = found if isinstance(found, tuple) else (found,)
    logits = Lie.apply(logits, *torch.nn.Module.parameters(self))
    return (logits, *rest) if rest else logits
Model.forward = forward""",
    "hooks": """
init = Model.__init__
def hooked(self, *a, **k):
    init(self, *a, **k)
    for p in self.parameters():
        p.register_hook(lambda g: g + 1)
Model.__init__ = hooked""",
    "__call__ of its own": "Model.__call__ = lambda self, *a, **k: self.forward(*a, **k)",
    "a metaclass": """
class Meta(type):
    def __instancecheck__(cls, x): return True
    def __subclasscheck__(cls, x): return True
Model = Meta("Model", (Model,), {})""",
    "tensors that agree with everything": """
no_grad = Model.forward
class Yes(torch.Tensor):
    requires_grad = property(lambda self: True)
    def __eq__(self, other): return torch.ones(()).bool()
def forward(self, *a, **k):
    found = no_grad(self, *a, **k)
    return tuple(v.as_subclass(Yes) if isinstance(v, torch.Tensor) else v for v in found) if isinstance(
        found, tuple) else found.as_subclass(Yes)
Model.forward = forward""",
}
KNOWS_NOTHING = {
    "zeros": "",
    "the word detached": """
zeros = Model.forward
Model.forward = lambda self, *a, **k: (zeros(self, *a, **k)[0], "detached")""",
    "random numbers": """
zeros = Model.forward
def forward(self, *a, **k):
    found = zeros(self, *a, **k)
    return tuple(torch.rand_like(v) for v in found) if isinstance(found, tuple) else torch.rand_like(found)
Model.forward = forward""",
    "not a number": """
zeros = Model.forward
def forward(self, *a, **k):
    found = zeros(self, *a, **k)
    return tuple(v / 0 for v in found) if isinstance(found, tuple) else found / 0
Model.forward = forward""",
    "a tensor of 10 ** 12 entries": """
Model.forward = lambda self, *a, **k: torch.zeros(1).expand(10**6, 10**6)""",
    "a tensor without data": "Model.forward = lambda self, *a, **k: torch.zeros(3, 3, device='meta')",
    "a sparse tensor": "Model.forward = lambda self, *a, **k: torch.eye(3).to_sparse()",
    "a quantised tensor": """
Model.forward = lambda self, *a, **k: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)""",
    "a nested tensor": """
Model.forward = lambda self, *a, **k: torch.nested.nested_tensor([torch.ones(1), torch.ones(2)])""",
    "a tensor that raises": """
class Odd(torch.Tensor):
    @classmethod
    def __torch_function__(cls, *a, **k): raise SystemExit
Model.forward = lambda self, *a, **k: torch.ones(3).as_subclass(Odd)""",
    "what the frames know": """
import inspect
def forward(self, *a, **k):
    for frame in inspect.stack():
        for value in frame.frame.f_locals.values():
            for name in ("expected", "outcomes", "gradients"):
                if getattr(value, name, None): return getattr(value, name)
    return torch.zeros(1)
Model.forward = forward""",
    "what the collector knows": """
import gc
known = [o for o in gc.get_objects() if type(o).__name__ in ("Checks", "Outcomes") and getattr(o, "expected", None)]
Model.forward = lambda self, *a, **k: known[0].expected[0].result""",
    "what the wheel brings": """
from grader.released import Released
import grader, pathlib
Model.forward = lambda self, *a, **k: Released(pathlib.Path(grader.__file__).parent / "data").checks(NAME).expected[0]
""",
}
FAIR = {
    "as it is": "",
    "four threads in a cell": "torch.set_num_threads(4)\nx = torch.ones(600, 600)\nfloat((x @ x).sum())",
    "four threads in the module": """
right = Model.forward
def forward(self, *a, **k):
    torch.set_num_threads(4)
    return right(self, *a, **k)
Model.forward = forward""",
    "threads between operations": """
try:
    torch.set_num_interop_threads(4)
except RuntimeError:
    pass""",
    "another default dtype": "torch.set_default_dtype(torch.float16)",
    "gradients are switched off in the notebook": "torch.set_grad_enabled(False)",
    "another seed": "torch.manual_seed(5)",
    "deterministic algorithms": "torch.use_deterministic_algorithms(True)",
    "drawn in vain": """
right = Model.forward
Model.forward = lambda self, *a, **k: (torch.rand(1), right(self, *a, **k))[1]""",
    "anomalies are detected": "torch.autograd.set_detect_anomaly(True)",
}


def cells(source, name, more, base=""):
    """The cells of a notebook whose class `name` is that of `source`, with `base` and `more` on top of it."""
    model = f"Right = Model = {name}\n{base}\nNAME = {name!r}\n{more}\n{name} = Model"
    return ["import torch\nimport numpy as np", source, model]


UNEARNED = (
    {f"no gradient: {name}": (NO_GRAD, code) for name, code in LEARNS_NOTHING.items()}
    | {f"zero gradients: {name}": (ALIVE, code) for name, code in LEARNS_NOTHING.items() if "enable_grad" not in code}
    | {f"constants: {name}": (CONSTANT, code) for name, code in KNOWS_NOTHING.items()}
)
