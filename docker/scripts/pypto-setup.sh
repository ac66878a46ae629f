#!/usr/bin/env bash
# pypto-setup.sh: pypto-setup, by the name it had as a script.
exec "$(dirname "$(readlink -f "$0")")/helper.sh" "$0" pypto-setup "setup" "$@"
