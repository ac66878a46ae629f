#include "pypto/answer.hpp"

const char *pypto_version() { return "0.1.0"; }
