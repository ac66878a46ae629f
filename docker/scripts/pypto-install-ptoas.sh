#!/usr/bin/env bash
# pypto-install-ptoas.sh: pypto-install-ptoas, by the name it had as a script.
exec "$(dirname "$(readlink -f "$0")")/helper.sh" "$0" pypto-install-ptoas "ptoas install" "$@"
