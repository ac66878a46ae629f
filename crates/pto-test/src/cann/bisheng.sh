#!/bin/sh
# Behaves like the compiler as far as files go: it refuses an input or library that is not there, and writes its output. What
# it writes runs on this machine, where somebody said what builds it.
root="$(cd "$(dirname "$0")/.." && pwd)"
. "$root/record.sh"
record bisheng "$@"

fail() { echo "bisheng: error: $1" >&2; exit 1; }
case "$(behaviour bisheng)" in
    fail) fail "unable to handle compilation, expected exactly one compiler job in ''" ;;
    hang) exec sleep 600 ;;
    silent) exit 0 ;;
    noise) echo "[INFO] bisheng: 1 device function compiled" ;;
esac

out= expect= dirs= libs= sources= arch= object=
for arg in "$@"; do
    case "$expect$arg" in
        out:*) out="$arg" expect= ;;
        skip:*) expect= ;;
        -o) expect=out: ;;
        -include | -mllvm | -Xlinker) expect=skip: ;;
        -c) object=1 ;;
        --cce-aicore-arch=*) arch="${arg#*=}" ;;
        -l*) libs="$libs
${arg#-l}" ;;
        -L*) dirs="$dirs
${arg#-L}" ;;
        -*) ;;
        *)
            [ -f "$arg" ] || fail "no such file or directory: '$arg'"
            sources="$sources
$arg"
            ;;
    esac
done
IFS='
'
for lib in $libs; do
    case "$lib" in stdc++ | dl | m | pthread) continue ;; esac
    found=
    for dir in $dirs; do [ -f "$dir/lib$lib.so" ] && found=1; done
    [ "$found" ] || fail "cannot find -l$lib"
done
[ "$out" ] || fail "no output"

if [ -f "$root/ready" ]; then
    cat "$root/ready" > "$out"
elif [ ! -f "$root/builder" ]; then
    echo built > "$out"
elif [ "$arch" ]; then
    # A kernel: the one whose kernel.toml lies beside its first source, built for this machine as that generation has it.
    case "$arch" in dav-c310*) soc=Ascend950PR_9599 ;; *) soc=Ascend910B2 ;; esac
    set -- $sources
    built="$(sh "$root/builder" "$(dirname "$1")" "$soc")" || fail "the kernel does not compile"
    cat "$built" > "$out"
    # Its runtime is looked for beside it.
    cp "$(dirname "$built")"/libptocpu-*.so "$(dirname "$out")"/
elif [ "$object" ] || [ "$libs" ]; then
    # Host code, compiled and linked by the machine's own compiler with the same words.
    unset IFS
    # The model is a library that nothing refers to here, so the linker would leave it out.
    ${CXX:-c++} -Wl,--no-as-needed "$@" || fail "the host code does not compile"
else
    # Objects of kernels to a library. An object is the library already.
    set -- $sources
    cat "$1" > "$out"
fi
