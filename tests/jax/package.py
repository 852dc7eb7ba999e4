"""`iree_dbg.jax` on the models of `models.py`: `tests/run jax`.

    usage: tests/jax/package.py [TEST]...

The library is that of IREE_DBG_PYTHON_LIBRARY, the program that of IREE_DBG.
"""

import functools
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent.parent / "runtime" / "python"
sys.path[:0] = [str(PACKAGE), str(HERE)]

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import iree_dbg  # noqa: E402
import iree_dbg.jax  # noqa: E402
import models  # noqa: E402

#: In the machine code of `leaky`, and in no other place.
SLOPE = 0.12345


def leaky(weights, x):
    for w in weights:
        h = x @ w
        x = jnp.where(h > 0, h, h * SLOPE)
    return {"last": x, "norms": [jnp.abs(x).sum(axis=1), (x * x).sum()]}


def of_leaky():
    return [models.numbers(32, 32, seed=it) for it in range(3)], models.numbers(4, 32)


def line_of(function, text):
    """The line of a function with this text."""
    first = function.__code__.co_firstlineno
    lines = Path(function.__code__.co_filename).read_text().splitlines()
    return next(at for at, line in enumerate(lines, 1) if at > first and text in line)


def plant(module, before, after):
    """Changes a number in the machine code of a module, and lets its debug file be of that."""
    found = module.read_bytes()
    old, new = struct.pack("<f", before), struct.pack("<f", after)
    assert found.count(old) == 1
    module.write_bytes(found.replace(old, new))
    with iree_dbg.open(module) as program:
        digests = re.findall(r"digest ([0-9a-f]{16})", program.notes[0])
    path = Path(f"{module}.debug")
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content.replace(*(it.encode() for it in digests)))


class Compiled(unittest.TestCase):
    def test_a_compiled_function_is_called_like_the_original(self):
        for make in models.MODELS:
            with self.subTest(make.__name__):
                function, arguments = make()
                with iree_dbg.jax.compile(function, *arguments) as compiled:
                    ours = compiled(*arguments)
                theirs = function(*arguments)
                trees = [jax.tree_util.tree_structure(it) for it in (ours, theirs)]
                self.assertEqual(*trees)
                leaves = zip(*(jax.tree_util.tree_leaves(it) for it in (ours, theirs)))
                for mine, other in leaves:
                    np.testing.assert_allclose(mine, other, rtol=2e-4, atol=2e-5)

    def test_against_the_framework_nothing_is_wrong(self):
        for make in models.MODELS:
            with self.subTest(make.__name__):
                function, arguments = make()
                with iree_dbg.jax.compile(function, *arguments) as compiled:
                    found = compiled.against()(*arguments)
                self.assertIn(found.cause, ("none", "rounding"), found)
                self.assertIsNone(found.report.first_bad)
                # Sums have another order, and only results are compared in float64, too.
                far = [row for row in found.tensors if not row["within"] and row["snr"] < 100]
                self.assertEqual(far, [])

    def test_keywords_and_structures(self):
        function, (weights, x) = leaky, of_leaky()
        with iree_dbg.jax.compile(function, weights, x=x) as compiled:
            given = compiled(weights, x=x)
            np.testing.assert_allclose(given["last"], function(weights, x)["last"], rtol=1e-5)
            with self.assertRaisesRegex(TypeError, "compile it again"):
                compiled(weights[:2], x=x)
            rows = compiled.against()(weights, x=x).results
            self.assertEqual([it["name"] for it in rows], ["['last']", "['norms'][0]", "['norms'][1]"])

    def test_arguments_that_are_not_used(self):
        def first(x, y):
            return x + 1

        x = models.numbers(4)
        with iree_dbg.jax.compile(first, x, x) as compiled:
            np.testing.assert_array_equal(compiled(x, x), x + 1)
        for jitted in (jax.jit(first), jax.jit(first, keep_unused=True)):
            with iree_dbg.jax.compile(jitted, x, x) as compiled:
                np.testing.assert_array_equal(compiled(x, x), x + 1)

    def test_another_function_is_not_the_compilers_fault(self):
        weights, x = of_leaky()

        def other(weights, x):
            given = leaky(weights, x)
            return {**given, "last": given["last"] * 1.01}

        with iree_dbg.jax.compile(leaky, weights, x) as compiled:
            found = compiled.against(other)(weights, x)
        self.assertEqual((found.cause, found.agrees), ("unknown", False))
        self.assertEqual([row["within"] for row in found.results], [False, True, True])
        self.assertIn("2 of 3 results agree", found.verdict)
        self.assertIn("the export", found.verdict)

    def test_what_float32_cannot_say_is_rounding(self):
        def sensitive(w, x):
            return jnp.sin(1e4 * (x @ w))

        w, x = models.numbers(512, 64), models.numbers(64, 512)
        with iree_dbg.jax.compile(sensitive, w, x) as compiled:
            found = compiled.against()(w, x)
        # The sums have another order, which moves sines of large numbers.
        self.assertFalse(found.agrees)
        self.assertEqual(found.cause, "rounding")
        self.assertIn("ill-conditioned", found.verdict)

    def test_a_planted_fault_is_found_with_its_line(self):
        weights, x = of_leaky()
        with tempfile.TemporaryDirectory() as folder:
            with iree_dbg.jax.compile(leaky, weights, x, folder=folder) as compiled:
                self.assertEqual(compiled.against()(weights, x).cause, "none")
                module = Path(compiled.module)
            plant(module, SLOPE, 0.2)
            with iree_dbg.open(module) as program:
                found = program.main.check(*weights, x)
                self.assertEqual(found.verdict, "differs")
                bad = found.first_bad
                self.assertEqual((bad["number"], bad["file"]), (1, str(Path(__file__).resolve())))
                self.assertEqual(bad["line"], line_of(leaky, "h = x @ w"))
                self.assertIn("leaves other than what its text means", found.summary())
                written = program.main.repro(Path(folder) / "repro", *weights, x, dispatch=1)
                self.assertIn("dispatch.mlir", [it.name for it in Path(written).iterdir()])

    def test_activations_are_the_variables_of_the_eager_run(self):
        weights, x = of_leaky()
        with iree_dbg.jax.compile(leaky, weights, x) as compiled:
            found = compiled.activations(weights, x)
            paired = compiled.against()(weights, x).tensors
        names = {name for name in found if name.startswith("h")}
        self.assertEqual(names, {"h", "h#2", "h#3"})
        expected = x
        for turn, w in enumerate(weights, start=1):
            suffix = "" if turn == 1 else f"#{turn}"
            h = expected @ w
            expected = jnp.where(h > 0, h, h * SLOPE)
            np.testing.assert_allclose(found[f"h{suffix}"], h, rtol=1e-4, atol=1e-6)
        self.assertLessEqual(names, {row["name"] for row in paired})
        self.assertIn("<table>", found._repr_html_())

    def test_stops_at_a_line_of_python(self):
        weights, x = of_leaky()
        lines = []
        with iree_dbg.jax.compile(leaky, weights, x) as compiled:
            at = line_of(leaky, "h = x @ w")
            with compiled.break_at(f"{Path(__file__).name}:{at}", lambda it: lines.append(it.frame.line)):
                compiled(weights, x)
        self.assertEqual(set(lines), {at})

    def test_a_failed_test_of_pytest_says_which_dispatch(self):
        weights, x = of_leaky()
        with tempfile.TemporaryDirectory() as folder:
            iree_dbg.jax.compile(leaky, weights, x, folder=folder).close()
            np.savez(f"{folder}/given.npz", *weights, x)
            text = (
                "import iree_dbg, numpy as np\n"
                "def test_it():\n"
                "    given = list(np.load('given.npz').values())\n"
                "    program = iree_dbg.open('leaky.vmfb')\n"
                "    np.testing.assert_allclose(program.main(*given)[0], given[-1])\n"
            )
            Path(folder, "test_it.py").write_text(text)
            right = self.pytest(folder)
            self.assertIn("1 failed", right)
            self.assertRegex(right, r"all \d+ dispatches were judged, and compute")
            plant(Path(folder, "leaky.vmfb"), SLOPE, 0.2)
            wrong = self.pytest(folder)
            self.assertRegex(wrong, r"dispatch 1, @.*package\.py:\d+: h = x @ w.* leaves other than")
            self.assertIn("that dispatch alone, for IREE's own tools", wrong)
            self.assertNotIn("that dispatch alone", self.pytest(folder, "--no-iree-dbg"))

    def test_accuracy_is_kept_by_a_baseline(self):
        text = (
            "import jax.numpy as jnp, numpy as np, iree_dbg.jax\n"
            "def f(x):\n"
            "    y = jnp.tanh(x @ x)\n"
            "    return y.sum(axis=0)\n"
            "def other(x):\n"
            "    return f(x) * NEAR\n"
            "x = np.random.default_rng(0).normal(size=(8, 8)).astype('f4')\n"
            "def test_it():\n"
            "    found = iree_dbg.jax.compile(f, x).against(other)(x)\n"
            "    assert found.results[0]['max_error'] < 1e-2\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "test_it.py")
            file.write_text(text.replace("NEAR", "1"))
            flags = ["--iree-dbg-baseline=kept"]
            missing = self.pytest(folder, *flags)
            self.assertIn("1 failed", missing)
            self.assertIn("write it with --iree-dbg-baseline-update", missing)
            self.assertIn("1 passed", self.pytest(folder, *flags, "--iree-dbg-baseline-update"))
            kept = Path(folder, "kept", "test_it.py-test_it.json").read_text()
            self.assertRegex(kept, r'"result result": \{\s+"max_error": [\d.e-]+,\s+"scale"')
            self.assertIn("1 passed", self.pytest(folder, *flags))
            # Within the test's own tolerance, and worse than it was.
            file.write_text(text.replace("NEAR", "1.0001"))
            self.assertIn("1 passed", self.pytest(folder))
            worse = self.pytest(folder, *flags)
            self.assertRegex(worse, r"result: the greatest error was \S+, and is \S+")
            self.assertIn("1 failed", worse)

    def test_hooks_know_calls_of_a_function_by_their_numbers(self):
        weights, x = of_leaky()

        def layer(x, w):
            h = x @ w
            a = jnp.where(h > 0, h, h * 0.5)
            return a

        def model(weights, x):
            for w in weights:
                x = layer(x, w)
            return x

        def changed(weights, x):
            first = layer(x, weights[0])
            return layer(jnp.zeros_like(layer(first, weights[1])), weights[2]) + 1

        met = []

        def look(name, array):
            met.append(name)

        with iree_dbg.jax.compile(model, weights, x) as compiled:
            with compiled.hook("layer[*].a", look):
                compiled(weights, x)
            self.assertEqual(met, ["layer[0].a", "layer[1].a", "layer[2].a"])
            with compiled.hook("layer[1].a", lambda name, array: np.zeros_like(array)):
                given = compiled(weights, x)
        np.testing.assert_allclose(given + 1, changed(weights, x), rtol=1e-6)

    def test_why_results_are_not_as_expected(self):
        weights, x = of_leaky()
        with iree_dbg.jax.compile(leaky, weights, x) as compiled:
            self.assertTrue(compiled.why(weights, x).as_expected)
            results = [np.array(it) for it in jax.tree_util.tree_leaves(leaky(weights, x))]
            results[1][2] += 1
            why = compiled.why(weights, x, expected=results)
            self.assertEqual((why.as_expected, why.cause), (False, "source_or_expectation"))
            self.assertRegex(str(why), r"result 1 : 4xf32, 1 of 4 elements\s+differs")

    def test_a_walk_goes_forward_and_back(self):
        weights, x = of_leaky()

        def layer(x, w):
            h = x @ w
            return jnp.where(h > 0, h, h * 0.5)

        def model(weights, x):
            for w in weights:
                x = layer(x, w)
            return {"sum": x.sum()}

        inputs = [x]
        for w in weights:
            inputs.append(np.asarray(layer(inputs[-1], w)))
        equal = functools.partial(np.testing.assert_allclose, rtol=1e-5, atol=1e-5)
        with iree_dbg.jax.compile(model, weights, x) as compiled, compiled.walk(weights, x) as walk:
            self.assertEqual((walk.kind, walk.frame.name), ("entry", "model"))
            number = walk.break_at("layer")
            for expected in inputs[:3]:
                self.assertEqual(walk.run().kind, "breakpoint")
                equal(walk.locals["x"], expected)
            self.assertEqual([it.layer for it in walk.frames[:2]], ["layer[2]", None])
            self.assertEqual(walk.run().kind, "over")
            equal(walk.results["sum"], inputs[3].sum())
            equal(walk.reverse_run().locals["x"], inputs[2])
            # It was made by the second layer, before which it is not yet.
            walk.who_wrote("x[0, 3]")
            self.assertIn("was written by layer[1]", walk.reason)
            equal(walk.locals["x"], inputs[1])
            # A change is seen by what follows; what was recorded after it is no more.
            walk.set("x", np.zeros_like(inputs[1]))
            walk.remove(number)
            self.assertEqual(walk.run().results["sum"], 0)
            walk.break_at(f"{Path(__file__).name}:{line_of(model, 'x = layer')}", "x.max() > 1e9")
            self.assertEqual(walk.to_start().run().kind, "over")

    def pytest(self, folder, *flags):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "iree_dbg._pytest", *flags]
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
        ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        return ran.stdout + ran.stderr


if __name__ == "__main__":
    result = unittest.main(verbosity=1, exit=False).result
    failed = len(result.failures) + len(result.errors)
    print(f"{max(result.testsRun - failed, 0)} passed, {failed} failed")
    sys.exit(0 if result.wasSuccessful() else 1)
