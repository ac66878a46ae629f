// Stands before the system's <assert.h>: PTO-ISA's simulator states its shape and bounds conditions with assert(), which
// would end the process. Here each violation goes to the runtime, which counts it or ends the launch with a verdict.
#include "ptocpu_assert.h"
