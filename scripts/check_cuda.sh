#!/bin/sh
# Runs everything that needs a CUDA device: the tests marked cuda, and the conformance report of that device.
# Usage: scripts/check_cuda.sh [python]
set -eu
cd "$(dirname "$0")/.."
python=${1:-python}
"$python" -c 'import sys, torch; sys.exit(0 if torch.cuda.is_available() else "no CUDA device")'
"$python" -m pytest -q -m cuda -p no:randomly
"$python" tests/ops/report.py --device cuda
