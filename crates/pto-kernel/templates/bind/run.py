"""Runs kernel @NAME@ with NumPy and ctypes alone: nothing has to be built but the kernel itself.

    python3 run_@NAME@.py @RUN@
    python3 run_@NAME@.py NAME=INPUT.npy ... --out DIRECTORY

Inputs that are not given are made up. What the kernel gave is summed up on stdout and, with --out, written as .npy files.
"""

import argparse
import ctypes
import json
import os
import sys

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from @NAME@ import _acl, _spec  # noqa: E402

SCALAR_TYPES = {
    "i8": ctypes.c_int8,
    "i16": ctypes.c_int16,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "u8": ctypes.c_uint8,
    "u16": ctypes.c_uint16,
    "u32": ctypes.c_uint32,
    "u64": ctypes.c_uint64,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
}


def run(tensors, dims=None, scalars=None, block_dim=None):
    """Launches the kernel once with arrays of NumPy by name. Gives the outputs by name; those passed are overwritten."""
    tensors = dict(tensors)
    shapes = {name: tensor.shape for name, tensor in tensors.items()}
    bound = _spec.Bound(shapes, dims or {}, scalars or {}, _acl.cores())
    device, pointers = _acl.Device(), {}
    try:
        for name, direction, dtype, _ in _spec.TENSORS:
            if name not in tensors:
                if direction in ("in", "inout"):
                    raise TypeError(f"`{name}` is missing")
                tensors[name] = _acl.empty(bound.shapes[name], dtype)
            tensor = tensors[name]
            if str(tensor.dtype) != dtype:
                raise TypeError(f"`{name}` is {tensor.dtype}, expected {dtype}")
            if not tensor.flags.c_contiguous:
                raise TypeError(f"`{name}` is not contiguous")
            pointers[name] = device.upload(tensor)
        values = {
            "block_dim": ctypes.c_uint32(bound.block_dim if block_dim is None else block_dim),
            "stream": device.stream,
            **pointers,
            **{name: SCALAR_TYPES[kind](bound.scalars[name]) for name, kind, _ in _spec.SCALARS},
        }
        launcher = _acl.kernel()
        launcher.restype = None
        launcher(*(values[name] for name in _spec.SIGNATURE))
        device.synchronize()
        outputs = {}
        for name, direction, *_ in _spec.TENSORS:
            if direction in ("out", "inout"):
                device.download(pointers[name], tensors[name])
                outputs[name] = tensors[name]
        return outputs
    finally:
        device.release()


def made_up(shape, dtype, random):
    array = _acl.empty(shape, dtype)
    array[...] = random.standard_normal(shape) if array.dtype.kind in "fV" else random.integers(0, 2, shape)
    return array


class Wrong(Exception):
    """What was given cannot be understood."""


def read(words):
    """Dims with their lengths and inputs with their arrays, from words like `n=1000` and `x=x.npy`."""
    dims, tensors = {}, {}
    inputs = [name for name, direction, *_ in _spec.TENSORS if direction in ("in", "inout")]
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise Wrong(f"`{word}` is not of the form NAME=VALUE")
        if name in _spec.DYNAMIC:
            if not value.isdecimal() or int(value) < 1:
                raise Wrong(f"`{value}` is not a length of at least 1 for `{name}`")
            dims[name] = int(value)
        elif name in inputs:
            try:
                tensors[name] = numpy.load(value)
            except OSError as error:
                raise Wrong(f"cannot read `{value}`: {error.strerror or error}") from error
            except (EOFError, ValueError) as error:
                raise Wrong(f"`{value}` is no .npy file of numbers") from error
            if not isinstance(tensors[name], numpy.ndarray):
                raise Wrong(f"`{value}` holds several arrays, expected a .npy file")
        else:
            known = ", ".join(f"`{known}`" for known in [*_spec.DYNAMIC, *inputs])
            raise Wrong(f"`{name}` is neither a dim nor an input; expected one of {known}")
    return dims, tensors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("given", nargs="*", metavar="NAME=VALUE", help="a dim with its length, or an input with its file")
    parser.add_argument("--out", metavar="DIRECTORY", help="write outputs there")
    parser.add_argument("--seed", type=int, default=1, help="for inputs that are made up")
    arguments = parser.parse_args()
    try:
        dims, tensors = read(arguments.given)
        shapes = {name: tensor.shape for name, tensor in tensors.items()}
        bound = _spec.Bound(shapes, dims, {}, _acl.cores())
        random = numpy.random.default_rng(arguments.seed)
        for name, direction, dtype, _ in _spec.TENSORS:
            if direction in ("in", "inout") and name not in tensors:
                tensors[name] = made_up(bound.shapes[name], dtype, random)
        outputs = run(tensors, dims)
        if arguments.out:
            os.makedirs(arguments.out, exist_ok=True)
            for name, output in outputs.items():
                numpy.save(os.path.join(arguments.out, f"{name}.npy"), output)
    except (Wrong, _spec.Refused, TypeError, OSError) as error:
        parser.error(str(error))
    summary = {"kernel": _spec.NAME, "target": _spec.TARGET, "dims": bound.dims, "block_dim": bound.block_dim, "outputs": {}}
    for name, output in outputs.items():
        summary["outputs"][name] = {"shape": list(output.shape), "dtype": str(output.dtype), "sum": float(numpy.sum(output, dtype=float))}
    print(json.dumps(summary))


if __name__ == "__main__":
    main()
