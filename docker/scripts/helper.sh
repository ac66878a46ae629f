#!/usr/bin/env bash
# helper.sh CALLED NAME VERB [WORD...]: runs our program as NAME, if it is installed, else from the sources. It runs the program
# itself and not the installed helper of that name, which may call this file again. CALLED is how the helper was typed, which the
# program repeats where it says what to type next.
set -euo pipefail
called=$1 name=$2 verb=$3
shift 3
case ${called##*/} in
    "$name" | "$name.sh") ;;
    *) called=$name ;;
esac
installed=${PYPTO_HOME:-/opt/pypto}/bin/ptokit
if [ -x "$installed" ]; then
    exec -a "$called" "$installed" "$@"
fi
manifest=$(dirname "$(readlink -f "$0")")/../../Cargo.toml
if [ ! -f "$manifest" ] || ! command -v cargo > /dev/null; then
    echo "$name: there is no $installed, and nothing to build it from; PYPTO_HOME names where it is installed" >&2
    exit 3
fi
read -ra words <<< "$verb"
exec cargo run --quiet --manifest-path "$manifest" --package xtask -- "${words[@]}" "$@"
