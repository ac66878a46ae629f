#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "pypto/answer.hpp"

static PyObject *answer(PyObject *, PyObject *) { return PyLong_FromLong(pypto_answer()); }
static PyObject *version(PyObject *, PyObject *) { return PyUnicode_FromString(pypto_version()); }

static PyMethodDef methods[] = {
    {"answer", answer, METH_NOARGS, nullptr},
    {"version", version, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "pypto_core", nullptr, -1, methods};

PyMODINIT_FUNC PyInit_pypto_core() { return PyModule_Create(&module); }
