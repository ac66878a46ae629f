#!/usr/bin/env bash
# build-dist.sh JOBS: PyPTO and its runtime from the checkout at PYPTO_SRC, with the managed patches of this platform.
set -euo pipefail
jobs=$1
patches=$(dirname "$0")/patches/${PYPTO_PLATFORM:-none}

for needed in toolchain/versions.env build-constraints.txt; do
    if [ ! -f "$PYPTO_SRC/$needed" ]; then
        echo "the checkout at PYPTO_SRC has no $needed: this revision cannot be built into an image" >&2
        exit 2
    fi
done

options=(--jobs "$jobs")
# The directory is there for every platform, and may hold none.
if compgen -G "$patches/*.patch" > /dev/null; then
    options+=(--patches "$patches")
fi
pypto-setup
pypto-build "${options[@]}"
