"""The two scripts that Gradescope runs: https://gradescope-autograders.readthedocs.io/en/latest/specs/

`setup.sh` is run once, as root, when Gradescope builds the image; `run_autograder` for every submission. The variables
that begin with UNROLLED_ are for trying the zip on another machine.
"""

from __future__ import annotations

SETUP = r"""#!/usr/bin/env bash
# Install Python, if there is none that is new enough, and the packages that grading needs.
set -euo pipefail
source="${UNROLLED_AUTOGRADER:-/autograder}/source"
venv="${UNROLLED_VENV:-/opt/unrolled}" # not below /root: student code runs as another user and reads it
export DEBIAN_FRONTEND=noninteractive

find_python() {
    for name in python3.13 python3.12 python3.11 python3; do
        if "$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$name"
            return
        fi
    done
    return 1
}

apt-get update
apt-get install --yes --no-install-recommends libseccomp2 ca-certificates python3 python3-venv
python="$(find_python)" || {
    apt-get install --yes --no-install-recommends python3.12 python3.12-venv ||
        apt-get install --yes --no-install-recommends python3.11 python3.11-venv
    python="$(find_python)"
}
"$python" -m venv "$venv"
"$venv/bin/python" -m pip install --no-cache-dir --requirement "$source/requirements.txt"
chmod -R go-rwx "$source/hidden"
# As student code will run: without access to its libraries, every submission would lose points.
"$venv/bin/python" -I -c 'import os; os.setgroups([]); os.setuid(30000); import logging, unittest, venv' || {
    echo "Other users cannot read the Python in $venv, which comes from $python." >&2
    exit 1
}
"""

RUN = r"""#!/usr/bin/env bash
# Grade one submission. Student code runs as a user that can read neither the hidden cases nor the results.
set -euo pipefail
autograder="${UNROLLED_AUTOGRADER:-/autograder}"
python="${UNROLLED_VENV:-/opt/unrolled}/bin/python"
umask 022
mkdir -p "$autograder/results"
chmod -R go-rwx "$autograder/source/hidden" "$autograder/results"
if [ -e "$autograder/submission_metadata.json" ]; then
    chmod go-rwx "$autograder/submission_metadata.json"
fi
cd "$autograder"
export PYTHONPATH="$autograder/source/course" PYTHONSAFEPATH=1 PYTHONDONTWRITEBYTECODE=1
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
exec "$python" -m grader.gradescope.run "$autograder"
"""
