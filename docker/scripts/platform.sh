#!/usr/bin/env bash
# platform.sh: prints a2a3 or a5, by PYPTO_PLATFORM, else by the tag of CANN; nothing if neither tells.
set -euo pipefail
if [ -n "${PYPTO_PLATFORM:-}" ]; then
    echo "$PYPTO_PLATFORM"
    exit
fi
case ${PYPTO_CANN_TAG:-} in
    *-950-*) echo a5 ;;
    *-a3-* | *-910b-*) echo a2a3 ;;
esac
