#!/usr/bin/env bash
# pypto-update.sh: pypto-update, by the name it had as a script.
exec "$(dirname "$(readlink -f "$0")")/helper.sh" "$0" pypto-update "update" "$@"
