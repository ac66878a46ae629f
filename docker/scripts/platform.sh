#!/usr/bin/env bash
# platform.sh: a2a3 or a5, as PYPTO_PLATFORM says, else by the tag of CANN; nothing if neither says it.
set -euo pipefail
if [ -n "${PYPTO_PLATFORM:-}" ]; then
    echo "$PYPTO_PLATFORM"
    exit
fi
case ${PYPTO_CANN_TAG:-} in
    *-950-*) echo a5 ;;
    *-a3-* | *-910b-*) echo a2a3 ;;
esac
