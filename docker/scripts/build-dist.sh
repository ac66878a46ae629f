#!/usr/bin/env bash
# build-dist.sh JOBS: builds PyPTO and its runtime from the checkout at PYPTO_SRC, with the assembler that it pins and the managed
# patches for this platform.
set -euo pipefail
jobs=$1
platform=$("$(dirname "$0")/platform.sh")
if [ -z "$platform" ]; then
    echo "neither PYPTO_PLATFORM nor the tag of CANN says whether this is a2a3 or a5: no patches are applied" >&2
fi
patches=$(dirname "$0")/patches/${platform:-none}

for needed in toolchain/versions.env build-constraints.txt; do
    if [ ! -f "$PYPTO_SRC/$needed" ]; then
        echo "the checkout at PYPTO_SRC has no $needed: this revision cannot be built into an image" >&2
        exit 2
    fi
done

options=(--jobs "$jobs")
# The directory may be empty.
if compgen -G "$patches/*.patch" > /dev/null; then
    options+=(--patches "$patches")
fi

# Downloads do not stay in the layer: the image keeps only what is installed from them.
PTOKIT_HOME=$(mktemp -d)
export PTOKIT_HOME
trap 'rm -rf "$PTOKIT_HOME"' EXIT
pypto-setup
pypto-install-ptoas --checkout "$PYPTO_SRC"
pypto-build "${options[@]}"
