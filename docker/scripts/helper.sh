#!/usr/bin/env bash
# helper.sh NAME VERB [WORD...]: runs our program as NAME, if it is installed, else from the sources. It runs the program itself and
# not the installed helper of that name, which may call this file again.
set -euo pipefail
name=$1 verb=$2
shift 2
installed=${PYPTO_HOME:-/opt/pypto}/bin/ptokit
if [ -x "$installed" ]; then
    exec -a "$name" "$installed" "$@"
fi
manifest=$(dirname "$(readlink -f "$0")")/../../Cargo.toml
if [ ! -f "$manifest" ] || ! command -v cargo > /dev/null; then
    echo "$name: there is no $installed, and nothing to build it from; PYPTO_HOME names where it is installed" >&2
    exit 3
fi
read -ra words <<< "$verb"
exec cargo run --quiet --manifest-path "$manifest" --package xtask -- "${words[@]}" "$@"
