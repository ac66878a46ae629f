// Force-included before every kernel source that is compiled for the CPU, and precompiled. Order matters: PTO-ISA's own
// simulator first, then the device's view of the world (guards, builtins), then what the simulator lacks or gets wrong.
//
// Set by the build: PTOCPU_SIDE (0 vector, 1 cube), PTOCPU_MIX, PTOCPU_A5 (0 or 1), PTOCPU_UB_BYTES, PTOCPU_L0C_BYTES, and a
// PTOCPU_HAS_* per probed feature of the PTO-ISA headers in use.
#pragma once

// The standard headers that name std::condition_variable come before PTO-ISA: see waiting.hpp.
#include <cassert>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "../runtime/ptocpu.h"
#include "simulator.hpp"
#include "builtins.hpp"
#include "memory.hpp"
#include "transfers.hpp"
#include "conversions.hpp"
#include "fixes.hpp"
#include "launch.hpp"
