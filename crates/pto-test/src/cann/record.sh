# Words and variables of a call, each ended by NUL, in a file of their own per call; and how the program is to behave.
record() {
    tool="$1" && shift
    mkdir -p "$root/record/$tool"
    call="$root/record/$tool/$(ls "$root/record/$tool" | grep -cv env)"
    : > "$call"
    for arg in "$@"; do printf '%s\0' "$arg" >> "$call"; done
    env -0 > "$call.env"
}

behaviour() {
    cat "$root/behaviour/$1" 2> /dev/null || echo succeed
}

# What all simulators want of their surroundings.
check_library_path() {
    first="${LD_LIBRARY_PATH%%:*}"
    [ -f "$first/libruntime_camodel.so" ] || fail "libruntime_camodel.so: cannot open shared object file"
    case ":$LD_LIBRARY_PATH:" in *::*) fail "an element of LD_LIBRARY_PATH is empty" ;; esac
    [ "$PTO_SIMULATOR" = 1 ] || fail "PTO_SIMULATOR is not 1"
}

# Runs the program with the model loaded, as the behaviour has it, for so many seconds at most.
simulate() {
    seconds="$1" && shift
    fault=
    case "$mode" in
        crash-within) fault=aclrtSynchronizeStreamWithTimeout=crash ;;
        hang) fault=aclrtSynchronizeStreamWithTimeout=hang ;;
        task)
            echo "[DRVSTUB_WARN] driver_queue.c:163 checkSqeSupported:RTSQ_2 sqe_payload[0]: 0xb, unsupported task type: SDMA, camodel only supports AIC/AIV/PLACE_HOLDER/NOTIFY_REC/NOTIFY_WAIT"
            fault=aclrtSynchronizeStreamWithTimeout=abort
            ;;
    esac
    PTO_ACLSIM_FAULT="$fault" PTO_ACLSIM_SOC="$soc" LD_PRELOAD="$first/libruntime_camodel.so" \
        timeout -k 1 "$seconds" "$@"
}
