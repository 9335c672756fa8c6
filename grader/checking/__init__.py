"""What a check is: from an observed result to a verdict, for any exercise. Nothing here knows a particular one.

- `case` (the values that flow), `verdict` (points by facet, status, likely cause), `evaluate` (observations → verdict)
- running a student's object: `drivers` (also writes the call as text), `observing`, `calls`, `fixtures` (inputs that
  are callables or generators), `printing` (what a function prints is shown for the first case only)
- comparing: `judge`, `compare` (structure first, then values; never broadcasts; says where), `describe`, `numbers`,
  `beside` (small arrays side by side), `constant` (what does not depend on the inputs), `sizes` (what is too large to
  be examined), `uses` (which other functions a function uses)
- PyTorch modules: `module_cases`, `modules` (their driver), `gradients` (does one flow along every path?), `tensors`,
  `settle` (what a student's numbers show)
- `diagnose/`: the likely cause

*Facets.* A facet is a part of an exercise with its own points, by output or by kind of case. Its share is all or
nothing. It is nothing if one of its outputs is the same on all cases, although it should not be: that the loss of no
token is 0 is worth points only in a function that computes something.

*Tolerance.* `abs(got - expected) <= 1e-11 + 1e-9 * abs(expected)`: a different order of summation passes, an
intermediate float32 does not. Results expected in float32 or float16 have wider ones (`case.Tolerance.of`).

*Expected exceptions.* A case of the kind `raises IndexError` expects this exception. Its type must be the same, and
what the oracle's exception says must occur in the student's: for a `KeyError`, the key.

*Structure.* Several results may come as a tuple or as a list, and so may a single result that is one of them. Inside a
result they differ, because `("a", "b")` can be a key and `["a", "b"]` cannot. The order and subclass of a dict do not
matter, nor whether a number is Python's or NumPy's. A tensor in place of an array is wrong, and the report says how to
convert it.

*Callables* that an exercise receives are fixtures: the name and parameters of a builder are sent to the child, with the
source of the chapter's own builders. The driver records every call, and an exercise's own judge can read the record.

*PyTorch modules* are graded by their behaviour with given weights, in float64. An instance of the student's class must
have the names and shapes of the given `__init__`. A state is not inspected but passed to the next call, whose result is
judged. The student's process only sends numbers. The gradient of a weighted sum of a result's entries, for each weight,
is compared with the slope of the oracle's sum in a fixed direction; weights of earlier calls do not move for it, so
only a detached state has the right gradients in the call that continues from it. Results under dropout must be among
those that the oracle gives for every mask.

*Own judges.* If no value is fixed (a random mask, a trained model), `judge.py` has `judge(case, observation)`,
`MATCHES`, and `largest(case)`: the size of a result and of each recorded call, and how many calls it can use. A
training loop is judged by its calls: the function that it calls gives prepared answers. The file is shipped with the
data, so it must give nothing away.

*What a student returned or recorded is a claim.* Its size is compared with what is expected before anything is computed
from it: in a student's process everything can be reached, also the list of recorded calls.
"""
