#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "pto/pto-inst.hpp"
#include "ring.h"

static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_task_interface", nullptr, -1, nullptr};

PyMODINIT_FUNC PyInit__task_interface() {
    PyObject *m = PyModule_Create(&module);
    PyModule_AddStringConstant(m, "__build_commit__", BUILD_COMMIT);
    PyModule_AddIntConstant(m, "slots", ring_slots());
    PyModule_AddIntConstant(m, "pto_isa", PTO_ISA_GENERATION);
    return m;
}
