# shellcheck shell=bash
# pypto-activate.sh: to be sourced; sets the environment of an installation, as `setup` wrote it there.
# shellcheck source=/dev/null
. "${PYPTO_HOME:-/opt/pypto}/bin/pypto-activate.sh"
