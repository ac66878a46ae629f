// What kernel sources expect of <runtime/rt.h>.
#pragma once
#include "rt_ffts.h"
