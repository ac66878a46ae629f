#!/bin/sh
# `cannsim record -s Ascend950 -o DIR [--gen-report] PROGRAM -u "ARGS..."`
root="$(cd "$(dirname "$0")/.." && pwd)"
. "$root/record.sh"
record cannsim "$@"
mode="$(behaviour cannsim)"

fail() { echo "[ERROR] cannsim: $1" >&2; exit 1; }
[ "$1" = record ] || fail "unknown command '$1'"
shift
soc= output= program= words=
while [ $# -gt 0 ]; do
    case "$1" in
        -s) soc="$2" && shift ;;
        -o) output="$2" && shift ;;
        -u) words="$2" && shift ;;
        --gen-report) ;;
        -*) fail "unknown option '$1'" ;;
        *) [ -z "$program" ] || fail "more than one program: '$1'" ; program="$1" ;;
    esac
    shift
done
[ "$soc" = Ascend950 ] || fail "unknown SoC '$soc'"
[ "$output" ] && [ -x "$program" ] || fail "no output or no program"
check_library_path

case "$mode" in
    fail) fail "the simulator does not start" ;;
    garbage) head -c 4096 /dev/urandom && exit 0 ;;
    silent) exit 0 ;;
    noise) echo "[2026-07-25 02:21:07] [INFO] USER_APP started" ;;
esac
soc=Ascend950PR_9599
# Split at blanks, as it is given.
simulate 600 "$program" $words
code=$?
mkdir -p "$output/cannsim"
echo '{"traceEvents":[]}' > "$output/cannsim/trace.json"
case "$mode" in
    crash-after)
        echo "[FAILED] cannsim record execution failed!"
        kill -SEGV $$
        ;;
    code-after)
        echo "[2026-07-25 02:21:29] [ERROR] USER_APP failed after 21.66s (exit=1)"
        echo "Simulation FAILED  ·  run time 21.7s  ·  exit 1"
        exit 1
        ;;
esac
exit $code
