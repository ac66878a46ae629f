#include "probe.hpp"
constexpr auto probe = pto::AccPhase::Unspecified;
