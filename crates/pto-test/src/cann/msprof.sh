#!/bin/sh
# `msprof op simulator --soc-version=SOC --timeout=SECONDS --output=DIR PROGRAM ARGS...`
root="$(cd "$(dirname "$0")/.." && pwd)"
. "$root/record.sh"
record msprof "$@"
mode="$(behaviour msprof)"

fail() { echo "[ERROR] msprof: $1" >&2; exit 1; }
[ "$1 $2" = "op simulator" ] || fail "unknown command '$1 $2'"
shift 2
soc= seconds= output=
while [ $# -gt 0 ]; do
    case "$1" in
        --soc-version=*) soc="${1#*=}" ;;
        --timeout=*) seconds="${1#*=}" ;;
        --output=*) output="${1#*=}" ;;
        -*) fail "unknown option '$1'" ;;
        *) break ;;
    esac
    shift
done
[ "$soc" ] && [ "$seconds" ] && [ "$output" ] || fail "an option is missing"
[ -x "$1" ] || fail "'$1' is no program"
check_library_path

case "$mode" in
    fail) fail "the simulator does not start" ;;
    garbage) head -c 4096 /dev/urandom && exit 0 ;;
    silent) exit 0 ;;
    noise) echo "[INFO] Profiling is running" && echo "[INFO] Start the op simulator" >&2 ;;
esac
simulate "$seconds" "$@"
code=$?
mkdir -p "$output/OPPROF/simulator/core0.veccore0" "$output/OPPROF/dump"
echo '{"traceEvents":[]}' > "$output/OPPROF/simulator/trace.json"
echo '{"traceEvents":[]}' > "$output/OPPROF/simulator/core0.veccore0/trace.json"
echo "[info] [00000001] tick" > "$output/OPPROF/dump/core0.veccore0.instr_log.dump"
case "$mode" in
    crash-after) kill -SEGV $$ ;;
    code-after) exit 1 ;;
    noise) echo "[INFO] Profiling results saved in $output" ;;
esac
exit $code
