#!/usr/bin/env python3
"""Runs the comparison and NumPy side by side on the same sizes: `python3 scripts/speed.py [MEBI_ELEMENTS]`.

Both are measured in turns on the same machine, so what else runs there slows both. Needs NumPy.
"""

import subprocess
import sys
import time

import numpy as np


def seconds(actual, expected, rtol, atol, turns=3):
    best = float("inf")
    for _ in range(turns):
        start = time.perf_counter()
        assert np.allclose(actual, expected, rtol=rtol, atol=atol)
        best = min(best, time.perf_counter() - start)
    return best


def main():
    mebi = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    command = ["cargo", "run", "--quiet", "--release", "-p", "pto-golden", "--example", "speed", "--"]
    ours = subprocess.run([*command, str(mebi)], check=True, capture_output=True, text=True).stdout
    print(ours, end="")
    wall = {line.split(":")[0]: float(line.split()[1]) for line in ours.splitlines()}
    some = np.random.default_rng(1).standard_normal(1 << 20)
    for name, dtype, bits, rtol, atol in [
        ("f16", np.float16, np.uint16, 1e-3, 1e-5),
        ("f32", np.float32, np.uint32, 1.3e-6, 1e-5),
        ("i8", np.int8, None, 0, 0),
    ]:
        expected = np.tile((some * (1 if bits else 50)).astype(dtype), mebi)
        actual = expected.copy()
        if bits:
            actual.view(bits)[::4] ^= 1
        theirs = seconds(actual, expected, rtol, atol)
        print(f"{name}: numpy.allclose {theirs:.3f} s, {theirs / wall[name]:.0f} times as long")


if __name__ == "__main__":
    main()
