

class Refused(ValueError):
    """An argument does not fit the kernel."""


def evaluate(text, names):
    """A whole number from an expression of kernel.toml: exact, `/` included, and nothing but arithmetic."""
    value = _value(ast.parse(text, mode="eval").body, names, text)
    if value.denominator != 1:
        raise Refused(f"`{text}` is {value}, not an integer")
    return int(value)


_BINARY = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: Fraction(a // b),
    ast.Mod: lambda a, b: a % b,
    ast.Pow: lambda a, b: Fraction(a**b),
}
_CALLS = {
    "min": min,
    "max": max,
    "abs": abs,
    "ceil": lambda value: Fraction(math.ceil(value)),
    "floor": lambda value: Fraction(math.floor(value)),
}


def _value(node, names, text):
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Fraction(node.value)
    if isinstance(node, ast.Name) and node.id in names:
        return Fraction(names[node.id])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, names, text)
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_value(node.left, names, text), _value(node.right, names, text))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLS:
        return _CALLS[node.func.id](*(_value(argument, names, text) for argument in node.args))
    raise Refused(f"`{text}` cannot be computed here")


class Bound:
    """What a call passes: dims, the shape of every tensor, the value of every scalar, the number of blocks."""

    def __init__(self, shapes, dims, scalars, cores):
        self.dims = dict(STATIC)
        self.dims.update(dims)
        self._solve(shapes)
        self.shapes = {name: self._shape(name, shape) for name, _, _, shape in TENSORS}
        for name, given in shapes.items():
            if tuple(given) != self.shapes[name]:
                raise Refused(f"`{name}` has shape {tuple(given)}, expected {self.shapes[name]} with {self._sizes()}")
        self.scalars = {name: scalars.get(name, value) for name, _, value in SCALARS}
        for name, value in self.scalars.items():
            if isinstance(value, str):
                self.scalars[name] = evaluate(value, self.dims)
        self.block_dim = evaluate(BLOCK_DIM, {**self.dims, **cores})
        if self.block_dim < 1:
            raise Refused(f"`block_dim` is {self.block_dim} with {self._sizes()}")

    def _solve(self, shapes):
        """A dim that stands alone in a shape is read from it; of several tensors from the first."""
        for name, _, _, shape in TENSORS:
            given = shapes.get(name)
            if given is None:
                continue
            if len(given) != len(shape):
                raise Refused(f"`{name}` has {len(given)} dimensions, expected {len(shape)}")
            for extent, length in zip(shape, given):
                if extent in DYNAMIC:
                    self.dims.setdefault(extent, int(length))
        missing = [dim for dim in DYNAMIC if dim not in self.dims]
        if missing:
            raise Refused(f"no tensor tells `{missing[0]}`; pass {missing[0]}=...")

    def _shape(self, name, shape):
        extents = tuple(evaluate(extent, self.dims) for extent in shape)
        if any(extent < 1 for extent in extents):
            raise Refused(f"`{name}` would have shape {extents} with {self._sizes()}")
        return extents

    def _sizes(self):
        return ", ".join(f"{dim}={self.dims[dim]}" for dim in DYNAMIC) or "fixed sizes"
