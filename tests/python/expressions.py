"""Expressions of the debugger against NumPy: `tests/run python`.

Tensors are drawn at random, of all element types and with special values, and lie in NumPy files,
which expressions can name. What the debugger computes from them is what NumPy computes from the
same elements as float64 or int64, in which the language computes; what NumPy refuses, the debugger
refuses, too.
"""

from __future__ import annotations

import sys
import tempfile
import unittest
import warnings
from pathlib import Path
from typing import Any, Callable, List, Sequence, Tuple

from main import MODELS, debuggable, iree_dbg, np, shutil

FOLDER = Path(tempfile.mkdtemp(prefix="iree-dbg-expressions-"))
FLOATS = ["float64", "float32", "float16"]
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"]
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 1e-40, 60000.0]


class Draw:
    """Tensors at random, the same in each run."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.files = 0

    def below(self, end: int) -> int:
        return int(self.random.integers(end))

    def one_of(self, choices: Sequence[Any]) -> Any:
        return choices[self.below(len(choices))]

    def sizes(self, rank: int) -> Tuple[int, ...]:
        return tuple(self.one_of([0, 1, 2, 3, 5, 8]) for _ in range(rank))

    def tensor(self, shape: Tuple[int, ...], types: Sequence[str]) -> "np.ndarray[Any, Any]":
        dtype = np.dtype(self.one_of(types))
        if dtype.kind == "b":
            return self.random.integers(2, size=shape).astype(dtype)
        if dtype.kind in "iu":
            # Below 2^53, so that no float that is made of it is rounded, and small enough for sums.
            limits = np.iinfo(dtype)
            low, high = max(limits.min, -(2**24)), min(limits.max, 2**24)
            return self.random.integers(low, high, size=shape, endpoint=True).astype(dtype)
        values = self.random.normal(size=shape) * self.one_of([1e-3, 1.0, 50.0])
        share = self.one_of([0, 0, 0.05, 0.5])
        special = self.random.choice(SPECIAL, size=shape)
        return np.where(self.random.random(shape) < share, special, values).astype(dtype)

    def file(self, array: "np.ndarray[Any, Any]") -> str:
        """The array in a file, as an expression names it."""
        self.files += 1
        path = FOLDER / f"{self.files}.npy"
        np.save(path, array)
        return f"@{path}"


def wide(array: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """The elements as the language computes with them."""
    return array.astype(np.float64 if array.dtype.kind == "f" else np.int64)


def softmax(array: "np.ndarray[Any, Any]", axis: int) -> Any:
    if not -array.ndim <= axis < array.ndim:
        raise ValueError("no axis")
    array = array.astype(np.float64)
    powers = np.exp(array - np.max(array, axis=axis, keepdims=True, initial=-np.inf))
    return powers / powers.sum(axis=axis, keepdims=True)


def cosine(a: "np.ndarray[Any, Any]", b: "np.ndarray[Any, Any]") -> Any:
    if a.shape != b.shape:
        raise ValueError("other shapes")
    a, b = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    return np.dot(a, b) / (np.linalg.norm(a) * np.linalg.norm(b))


Case = Tuple[str, Callable[[], Any]]


def softmaxes(draw: Draw) -> Case:
    x = draw.tensor(draw.sizes(1 + draw.below(3)), FLOATS + INTEGERS)
    if draw.below(3) == 0:
        return f"softmax({draw.file(x)})", lambda: softmax(x, -1)
    axis = draw.below(2 * x.ndim + 2) - x.ndim - 1
    return f"softmax({draw.file(x)}, {axis})", lambda: softmax(x, axis)


def percentiles(draw: Draw) -> Case:
    x = draw.tensor(draw.sizes(1 + draw.below(2)), FLOATS + INTEGERS)
    q = draw.one_of([0, 100, 50, 25, -1, 100.5, round(float(draw.random.random() * 100), 3)])
    return f"percentile({draw.file(x)}, {q})", lambda: np.percentile(wide(x).ravel(), q)


def products(draw: Draw) -> Case:
    m, k, n = (draw.one_of([0, 1, 2, 3, 7, 40]) for _ in range(3))
    batch = draw.sizes(draw.below(3))
    left, right = (m, k), (k, n)
    if draw.below(4) == 0:
        left = (k,)
    if draw.below(4) == 0:
        right = (k,)
    if draw.below(10) == 0:
        right = (k + 1, *right[1:])

    def outer(matrix: Tuple[int, ...]) -> Tuple[int, ...]:
        """The axes of batches, some of them 1 or left out."""
        if len(matrix) == 1:
            return matrix
        own = tuple(1 if draw.below(3) == 0 else size for size in batch)
        return (*own[draw.below(len(own) + 1) :], *matrix)

    a = draw.tensor(outer(left), FLOATS + INTEGERS)
    b = draw.tensor(outer(right), FLOATS + INTEGERS)
    return f"{draw.file(a)} @ {draw.file(b)}", lambda: np.matmul(wide(a), wide(b))


def transposed(draw: Draw) -> Case:
    x = draw.tensor(draw.sizes(1 + draw.below(4)), FLOATS + INTEGERS)
    return f"{draw.file(x)}.T", lambda: x.T


def slices(draw: Draw) -> Case:
    x = draw.tensor(draw.sizes(1 + draw.below(3)), FLOATS + INTEGERS)

    def number(least: int, end: int) -> str:
        return "" if draw.below(3) == 0 else str(draw.below(end - least) + least)

    def subscript(size: int) -> str:
        if draw.below(3) == 0:
            return str(draw.below(2 * size + 2) - size - 1)
        bounds = f"{number(-size - 2, size + 3)}:{number(-size - 2, size + 3)}"
        return bounds if draw.below(3) == 0 else f"{bounds}:{number(-4, 5)}"

    text = ", ".join(subscript(size) for size in x.shape[: 1 + draw.below(x.ndim)])
    name = draw.file(x)
    if draw.below(3) == 0:
        # A slice of what is no longer contiguous.
        return f"{name}.T[::-1][{text}]", lambda: eval(f"x.T[::-1][{text}]", {"x": x})
    return f"{name}[{text}]", lambda: eval(f"x[{text}]", {"x": x})


def neighbours(draw: Draw) -> Case:
    x = draw.tensor(draw.sizes(1 + draw.below(2)), FLOATS + INTEGERS)
    y = x.copy()
    if draw.below(2) and y.size and y.dtype.kind == "f":
        y = (y * (1 + draw.one_of([1e-12, 1e-6, 1e-4, 1e-3]))).astype(y.dtype)
    if draw.below(4) == 0:
        y = draw.tensor(x.shape, FLOATS + INTEGERS)
    tolerances = [[], [1e-3], [0, 0], [0, 1e-9], [1e-2, 1], [np.inf, 0]][draw.below(6)]
    text = "".join(f", {it}" for it in tolerances)
    expected = lambda: np.allclose(wide(x), wide(y), *tolerances)  # noqa: E731
    if draw.below(4) == 0:
        number = draw.one_of([0, 1.0, np.inf, np.nan])
        expected = lambda: np.allclose(wide(x), number, *tolerances)  # noqa: E731
        return f"allclose({draw.file(x)}, {number}{text})", expected
    return f"allclose({draw.file(x)}, {draw.file(y)}{text})", expected


def angles(draw: Draw) -> Case:
    x = draw.tensor(draw.sizes(1 + draw.below(2)), FLOATS + INTEGERS)
    y = draw.tensor(x.shape if draw.below(8) else (3, 1), FLOATS + INTEGERS)
    return f"cosine({draw.file(x)}, {draw.file(y)})", lambda: cosine(x, y)


def outcome(run: Callable[[], Any]) -> Any:
    """A value, or None if it is refused."""
    try:
        return run()
    except (ValueError, IndexError, iree_dbg.Error):
        return None


class Expressions(unittest.TestCase):
    def setUp(self) -> None:
        self.program = iree_dbg.open(debuggable("model"))
        warnings.simplefilter("ignore", RuntimeWarning)

    def compare(self, evaluate: Callable[[str], Any], kind: Callable[[Draw], Case]) -> None:
        draw, values = Draw(20), 0
        for _ in range(300):
            text, compute = kind(draw)
            expected, found = outcome(compute), outcome(lambda: evaluate(text))
            if expected is None or found is None:
                self.assertEqual((expected, found), (None, None), text)
                continue
            values += 1
            expected, found = np.asarray(expected), np.asarray(found)
            self.assertEqual(found.shape, expected.shape, text)
            if kind in (transposed, slices):
                # They move elements, and compute nothing. One element is a number of Python.
                found = found.astype(expected.dtype) if found.ndim == 0 else found
                self.assertEqual(found.dtype, expected.dtype, text)
                self.assertEqual(found.tobytes(), expected.tobytes(), text)
                continue
            # The orders of sums differ.
            size = np.max(np.abs(expected[np.isfinite(expected)]), initial=0.0)
            np.testing.assert_allclose(
                found, expected, rtol=1e-11, atol=1e-13 * float(size), err_msg=text
            )
        self.assertGreater(values, 150, kind.__name__)

    def test_expressions_are_those_of_numpy(self) -> None:
        kinds = [softmaxes, percentiles, products, transposed, slices, neighbours, angles]
        compared: List[str] = []

        def look(stop: iree_dbg.Stop) -> None:
            for kind in kinds:
                self.compare(stop.evaluate, kind)
                compared.append(kind.__name__)

        with self.program.breakpoint("model.mlir", 5, look):
            self.program.main(np.array([1, 2, 3, 4], dtype=np.float32), 1)
        self.assertEqual(len(compared), len(kinds))


if __name__ == "__main__":
    try:
        result = unittest.main(verbosity=1, exit=False).result
        failed = len(result.failures) + len(result.errors)
        print(f"{max(result.testsRun - failed, 0)} passed, {failed} failed")
        sys.exit(0 if result.wasSuccessful() else 1)
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)
        shutil.rmtree(MODELS, ignore_errors=True)
