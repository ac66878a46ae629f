#!/usr/bin/env bash
# pypto-build.sh: pypto-build, by the name it had as a script.
exec "$(dirname "$(readlink -f "$0")")/helper.sh" "$0" pypto-build "build" "$@"
