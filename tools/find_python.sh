#!/bin/bash
# Print the Python interpreter to create the environment with: $PYTHON when it is set, else the first
# of the usual names that is version 3.11 or later.
set -euo pipefail

for name in ${PYTHON:-python3.11 python3 python3.12 python3.13 python3.14}; do
    if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        command -v "$name"
        exit 0
    fi
done
echo "error: no Python 3.11 or later found${PYTHON:+ under the name $PYTHON}; install python3.11" \
    "or name one: make PYTHON=/path/to/python3" >&2
exit 1
