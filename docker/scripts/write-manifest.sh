#!/usr/bin/env bash
# write-manifest.sh: prints what is in the image: commits, and the version of the assembler. People quote it in problem reports.
set -euo pipefail

commit() { git -C "$1" rev-parse HEAD; }
pin=$(grep -oE '[0-9a-f]{40}' "$PYPTO_SRC/runtime/pto_isa.pin" | head -n 1)
assembler=$(grep -oE '^PTOAS_VERSION=[^[:space:]#]+' "$PYPTO_SRC/toolchain/versions.env" | cut -d= -f2)

printf '%-9s %s\n' \
    pypto "$(commit "$PYPTO_SRC")" \
    runtime "$(commit "$PYPTO_SRC/runtime")" \
    pto-isa "$pin" \
    pypto-lib "$(commit "$PYPTO_LIB_SRC")" \
    ptoas "$assembler" \
    built "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
