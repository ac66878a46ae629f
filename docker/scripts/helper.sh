#!/usr/bin/env bash
# helper.sh NAME VERB [WORD...]: our program under a name of its own, the installed one first. Another user's installation is
# not asked by that name: its helper may hand over to this file again.
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
