#!/usr/bin/env bash
# pypto-doctor.sh: pypto-doctor, by the name it had as a script.
exec "$(dirname "$(readlink -f "$0")")/helper.sh" "$0" pypto-doctor "doctor" "$@"
