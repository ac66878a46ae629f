// See cassert beside this file.
#pragma once
extern "C" void ptocpu_violation(const char *condition, const char *file, int line);
#undef assert
#define assert(...) (static_cast<bool>(__VA_ARGS__) ? void(0) : ptocpu_violation(#__VA_ARGS__, __FILE__, __LINE__))
