# What a user sources before all else.
export ASCEND_HOME_PATH="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
export PATH="$ASCEND_HOME_PATH/bin:$PATH"
export LD_LIBRARY_PATH="$ASCEND_HOME_PATH/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
