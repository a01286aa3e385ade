#!/bin/sh
# Runs everything that needs a CUDA device: the tests marked cuda (the conformance suite on the device among them), then
# writes docs/conformance/cuda.json and docs/ops.md anew. Both are done even where the other fails; the exit status says
# whether one did. A device that is lent for minutes: scripts/check_cuda.sh python --samples 4 --forms 8
# Usage: scripts/check_cuda.sh [python [options of tests/ops/report.py]]
set -eu
cd "$(dirname "$0")/.."
python=${1:-python}
[ $# -eq 0 ] || shift
"$python" - <<'PYTHON' || exit 2
import sys

try:
    import torch
except ImportError:
    sys.exit("check_cuda.sh: no torch, so that nothing was run")
if not torch.cuda.is_available():
    sys.exit(f"check_cuda.sh: torch {torch.__version__} sees no CUDA device, so that nothing was run")
print(f"torch {torch.__version__} on {torch.cuda.get_device_name()}")
PYTHON
status=0
"$python" -m pytest -q -m cuda -p no:randomly || status=1
"$python" tests/ops/report.py --device cuda "$@" || status=1
"$python" -m torchlayout.ops.document || status=1
exit $status
