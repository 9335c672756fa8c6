"""Before NumPy and PyTorch are imported: one thread each. With arrays as small as ours, several would mostly wait for
one another, and tests run side by side as it is.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
