#!/usr/bin/env bash
# pypto-dev.sh: pypto-dev, by the name it had as a script.
exec "$(dirname "$(readlink -f "$0")")/helper.sh" "$0" pypto-dev "container" "$@"
