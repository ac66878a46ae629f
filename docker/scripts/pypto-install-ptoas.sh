#!/usr/bin/env bash
# pypto-install-ptoas.sh: pypto-install-ptoas, by the name it had as a script.
exec "$(dirname "$(readlink -f "$0")")/helper.sh" pypto-install-ptoas "ptoas install" "$@"
