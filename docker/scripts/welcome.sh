#!/usr/bin/env bash
# welcome.sh: prints what to do first in this container. Interactive shells run it when they begin.
set -euo pipefail

echo "Check the checkout at ${PYPTO_SRC:-/workspace/pypto} before anything else: pypto-doctor"
echo "After changes to it: pypto-build"
here() { git -C "${PYPTO_SRC:-/workspace/pypto}" "$@" > /dev/null 2>&1; }
if here symbolic-ref -q HEAD; then
    echo "To bring it up to date: pypto-update"
elif here rev-parse HEAD; then
    # Published images hold commits and no branches, which an update refuses.
    echo "It is on no branch, so pypto-update does not pull it. For a newer one: pull a newer image and make a fresh container with" \
        "a fresh volume for the source; a volume that is there keeps its own source"
else
    echo "There is none yet: git clone --recurse-submodules https://github.com/hw-native-sys/pypto.git \"\$PYPTO_SRC\"," \
        "or leave and name one of the host: pypto-dev run ... --pypto-src DIR"
fi

platform=$("$(dirname "$(readlink -f "$0")")/platform.sh")
case $platform in
    a5) what="DeepSeek SWA" model=models/deepseek_v4_1_flash/decode_swa.py ;;
    a2a3) what="Qwen3 decode" model=models/qwen3_14b/decode_fwd.py ;;
    *)
        # With a guess, users would run the model for the wrong chip.
        echo "Which chip this is for is not known${platform:+: PYPTO_PLATFORM is $platform}. Say it: export PYPTO_PLATFORM=a2a3 (A2, A3) or" \
            "PYPTO_PLATFORM=a5"
        exit
        ;;
esac
if [ -z "${PYPTO_DEVICE:-}" ] && ! compgen -G '/dev/davinci[0-9]*' > /dev/null; then
    echo "There is no NPU here. On a simulator: cd \"\$PYPTO_LIB_SRC\" && python examples/beginner/hello_world.py -p ${platform}sim"
    exit
fi
echo "A first model, $what: cd \"\$PYPTO_LIB_SRC\" && python $model -p $platform -d ${PYPTO_DEVICE:-0}"
