"""A library for the specs of exercises: what a spec says, and how its checks are computed and recorded.

- `spec` (what a spec is written with), `changes` (a way to make a mistake, as a change to the solution), `gates`
  (arrays of a block for each gate), `trials` (what `trials.py` is written with)
- `folders` (which file of an exercise is where), `mistake_words` (`mistakes.md`), `load` (what an author wrote)
- `compute` (spec → checks), `altered_inputs` (the cases with an altered input), `slopes` (what gradients are compared
  with), `record` (checks → `grader/data/`), `kept` (what checks are computed from; checks that are kept)

*Expected values are independent.* An oracle computes them with PyTorch, a closed form, finite differences or a slow
loop, never with the reference solution. A value that the codec cannot represent is never correct: a set or a generator
is recorded by its type only, so any two would be equal. No expected value and no input may contain one.

*The same bytes on every machine.* NumPy, its BLAS, PyTorch and the C library choose their kernels by processor, and the
kernels differ in the last bits. A tolerance does not help for inputs, because outputs are computed from them. So an
input is drawn at random, or computed entry by entry with + - * / and square roots, or rounded to a grid of 2**-30
(`on_grid`); rounding all would destroy those that must be exact, such as a `u` on a boundary. On that grid, two
processors round to different sides about once in a few million numbers, and then a test says so. Outputs cannot be
rounded without using up the tolerance. So the bytes on file are kept while the new numbers are within a tenth of what
the judge accepts; on the processors that we tried, the difference is at most a hundredth of it.

*Mistakes.* A mistake has a name, a message, why it is tempting, and one way or several: each a small change to the
reference solution, or a function. The release records the results of each way on each case: of an exception the type,
and gradients only if no value shows the mistake. The demo class and the tests apply the same changes. A student whose
results are those of a way on all cases of a facet is told of the mistake.

*Altered inputs.* The oracle also runs with each input altered in the same way in every case: zeros, transposed, one
step late, exchanged with another of the same shape, a length one too large, and so on; and with the first or last
sequence or step of all inputs alone. Of each such run a fingerprint is recorded for each case and output, a number that
two results share only if they are equal, so a check needs no oracle. Where arrays consist of blocks for gates, the
blocks are also taken in every other order, in the inputs, in the outputs, in both, or inside the solution; one gate
from the block of another; with the opposite sign; and column by column in turns. Altered inputs that give the same on
every case are reported together if they are two, else not at all. Exercises with their own judge have none.

*Computed once.* What takes long to compute is kept with a hash of all that it was computed from. The sources are found
by following imports (`grader.sources`), so there is no list that could be out of date. The words of mistakes do not
count. The same hash decides about `grader/data` (with `released.txt`), the checks of other seeds (`build/checks`) and a
term's hidden cases; all but the first include the versions of NumPy and PyTorch.
"""
