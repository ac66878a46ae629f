#include <nanobind/nanobind.h>

#include "pypto/answer.hpp"

NB_MODULE(pypto_core, m) {
    m.def("answer", &pypto_answer);
    m.def("version", &pypto_version);
}
