#include <pybind11/pybind11.h>

#include "pypto/answer.hpp"

PYBIND11_MODULE(pypto_core, m) {
    m.def("answer", &pypto_answer);
    m.def("version", &pypto_version);
}
