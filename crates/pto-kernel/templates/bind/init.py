"""Kernel @NAME@ for @TARGET@: @SUMMARY@.

    import @NAME@
    outputs = @NAME@.@NAME@(@EXAMPLE@)

NumPy arrays are copied to the device and back, and the call waits. Tensors of torch on an NPU are used where they are: the call
returns when the kernel is enqueued on the stream. Outputs that are not passed are made. Dims come from shapes, scalars and the
number of blocks from dims, as kernel.toml says.
"""

import importlib

from . import _acl, _spec
from ._spec import Refused

__all__ = ["@NAME@", "prepare", "current_stream", "Refused"]

_extension = None


def _binding():
    global _extension
    if _extension is None:
        _acl.load()  # before the binding: what it links with has to be seen by the kernel's runtime
        try:
            _extension = importlib.import_module("._@NAME@", __name__)
        except ImportError as error:
            raise ImportError("the binding is not built: cmake -S . -B build && cmake --build build") from error
    return _extension


def current_stream():
    """The stream of torch that work goes to now, as a number; 0 without torch. Ask once and pass it on: asking costs more than
    a launch."""
    try:
        import torch
        import torch_npu  # noqa: F401
    except ImportError:
        return 0
    return int(torch.npu.current_stream().npu_stream)


def prepare(*, stream=None, block_dim=None, **arguments):
    """Checks the arguments once and gives a function without any that launches, and the outputs by name.

    For loops: nothing is asked, checked or looked up again.
    """
    tensors = {name: arguments.pop(name) for name, *_ in _spec.TENSORS if arguments.get(name) is not None}
    scalars = {name: arguments.pop(name) for name, *_ in _spec.SCALARS if name in arguments and name not in _spec.DYNAMIC}
    dims = {name: arguments.pop(name) for name in _spec.DYNAMIC if name in arguments}
    unknown = [name for name, value in arguments.items() if value is not None]
    if unknown:
        raise TypeError(f"@NAME@ takes no `{unknown[0]}`")
    on_device = any(hasattr(tensor, "data_ptr") for tensor in tensors.values())
    if on_device and any(not hasattr(tensor, "data_ptr") for tensor in tensors.values()):
        raise Refused("tensors of torch and NumPy arrays cannot be mixed")
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    bound = _spec.Bound(shapes, dims, scalars, _acl.cores())
    like = next(iter(tensors.values()), None)
    for name, direction, dtype, _ in _spec.TENSORS:
        if name not in tensors:
            if direction in ("in", "inout"):
                raise TypeError(f"`{name}` is missing")
            tensors[name] = _empty(bound.shapes[name], dtype, like if on_device else None)
    if stream is None:
        stream = current_stream() if on_device else 0
    values = {"block_dim": bound.block_dim if block_dim is None else block_dim, **tensors, **bound.scalars}
    values = [values[name] for name in _spec.SIGNATURE if name != "stream"]
    launch = _binding().launch
    outputs = {name: tensors[name] for name, direction, *_ in _spec.TENSORS if direction in ("out", "inout")}
    return lambda: launch(stream, *values), outputs


def _empty(shape, dtype, like):
    if like is not None:
        import torch

        return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)
    return _acl.empty(shape, dtype)


def @NAME@(*positional, stream=None, block_dim=None, **arguments):
    """Launches the kernel once. Inputs by position or name; the outputs in the order of kernel.toml, one of them alone."""
    inputs = [name for name, direction, *_ in _spec.TENSORS if direction in ("in", "inout")]
    if len(positional) > len(inputs):
        raise TypeError(f"@NAME@ takes {len(inputs)} inputs, {', '.join(inputs)}; {len(positional)} were given")
    for name, tensor in zip(inputs, positional):
        if name in arguments:
            raise TypeError(f"`{name}` is given twice")
        arguments[name] = tensor
    launch, outputs = prepare(stream=stream, block_dim=block_dim, **arguments)
    launch()
    outputs = tuple(outputs.values())
    return outputs[0] if len(outputs) == 1 else outputs
