"""`iree_dbg.onnx`, and ONNX models on the command line, against ONNX Runtime: `tests/run python`.

The models are made here. The library is that of IREE_DBG_PYTHON_LIBRARY, the program that of
IREE_DBG.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "runtime" / "python"))

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

import iree_dbg  # noqa: E402
import iree_dbg.onnx  # noqa: E402


def save(path: Path, scale: float = 1.0) -> Path:
    """A classifier with two inputs and two outputs."""
    drawn = np.random.default_rng(7)
    weights = [(drawn.normal(size=(16, 16)) / 4 * scale).astype("f4") for _ in range(2)]
    nodes = [
        helper.make_node("Gather", ["table", "tokens"], ["/embed/Gather_output_0"], name="/embed"),
        helper.make_node("Add", ["/embed/Gather_output_0", "bias"], ["/Add_output_0"], name="/Add"),
        helper.make_node("MatMul", ["/Add_output_0", "w0"], ["/0/MatMul_output_0"], name="/0/MatMul"),
        helper.make_node("Relu", ["/0/MatMul_output_0"], ["/0/Relu_output_0"], name="/0/Relu"),
        helper.make_node("MatMul", ["/0/Relu_output_0", "w1"], ["logits"], name="/1/MatMul"),
        helper.make_node("Softmax", ["logits"], ["probabilities"], name="/softmax", axis=-1),
    ]
    inputs = [
        helper.make_tensor_value_info("tokens", TensorProto.INT64, [6]),
        helper.make_tensor_value_info("bias", TensorProto.FLOAT, [16]),
    ]
    names = ["logits", "probabilities"]
    outputs = [helper.make_tensor_value_info(it, TensorProto.FLOAT, [6, 16]) for it in names]
    values = [numpy_helper.from_array(it, f"w{at}") for at, it in enumerate(weights)]
    values.append(numpy_helper.from_array(drawn.normal(size=(9, 16)).astype("f4"), "table"))
    graph = helper.make_graph(nodes, "classifier", inputs, outputs, values)
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), path)
    return path


class Models(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = Path(scratch.name)
        cls.path = save(cls.folder / "classifier.onnx")
        cls.model = iree_dbg.onnx.compile(cls.path)
        cls.tokens = np.array([0, 3, 8, 1, 1, 5])
        cls.bias = np.linspace(-1, 1, 16, dtype=np.float32)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.model.close()

    def test_it_is_called_by_position_and_by_name(self) -> None:
        import onnxruntime

        session = onnxruntime.InferenceSession(str(self.path))
        feed = {"tokens": self.tokens, "bias": self.bias}
        logits, probabilities = session.run(None, feed)
        for given in self.model(self.tokens, self.bias), self.model(**feed):
            self.assertEqual(list(given), ["logits", "probabilities"])
            np.testing.assert_allclose(given["logits"], logits, rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(given["probabilities"], probabilities, rtol=1e-5)
        # Elements that fit are converted; others are refused.
        self.model(self.tokens.tolist(), self.bias.astype(np.float64))
        for wrong in [(self.tokens,), (self.tokens, self.bias, 1)]:
            with self.assertRaisesRegex(TypeError, "takes the inputs tokens, bias"):
                self.model(*wrong)
        with self.assertRaisesRegex(TypeError, "expected elements of int64, got float32"):
            self.model(self.bias, self.bias)

    def test_tensors_have_their_names_of_onnx(self) -> None:
        import onnxruntime

        traced = self.model.trace(self.tokens, self.bias)
        named = [name for name in traced if not name.startswith("@")]
        self.assertIn("logits", named)
        model = onnx.load(str(self.path))
        model.graph.output.extend(
            onnx.ValueInfoProto(name=name) for name in named if name not in ("logits", "probabilities")
        )
        session = onnxruntime.InferenceSession(model.SerializeToString())
        expected = session.run(named, {"tokens": self.tokens, "bias": self.bias})
        for name, array in zip(named, expected):
            np.testing.assert_allclose(traced[name], array, rtol=1e-5, atol=1e-6)

    def test_activations_are_all_tensors_of_the_model(self) -> None:
        import onnxruntime

        found = self.model.activations(self.tokens, self.bias).by_name()
        model = onnx.load(str(self.path))
        names = [name for node in model.graph.node for name in node.output]
        self.assertLessEqual(set(names), set(found))
        outputs = {it.name for it in model.graph.output}
        more = [onnx.ValueInfoProto(name=name) for name in names if name not in outputs]
        model.graph.output.extend(more)
        session = onnxruntime.InferenceSession(model.SerializeToString())
        expected = session.run(names, {"tokens": self.tokens, "bias": self.bias})
        for name, array in zip(names, expected):
            np.testing.assert_allclose(found[name], array, rtol=1e-5, atol=1e-6)

    def test_the_module_has_a_signature(self) -> None:
        program = iree_dbg.open(self.model.module)
        self.assertEqual(list(program), ["classifier", "classifier$async"])
        types = [it.annotation for it in program.classifier.__signature__.parameters.values()]
        self.assertEqual(types, ["tensor<6xi64>", "tensor<16xf32>"])
        given = program.classifier(self.tokens.tolist(), self.bias.astype(np.float64))
        np.testing.assert_array_equal(given[0], self.model(self.tokens, self.bias)["logits"])
        with self.assertRaisesRegex(TypeError, r"args\[0\]: expected tensor<6xi64>"):
            program.classifier(self.bias[:6], self.bias)

    def test_against_onnx_runtime(self) -> None:
        found = self.model.against()(self.tokens, self.bias)
        self.assertTrue(found.agrees)
        self.assertEqual(found.cause, "none")
        self.assertEqual([it["name"] for it in found.results], ["logits", "probabilities"])
        self.assertTrue(found.tensors and all(it["within"] for it in found.tensors))
        self.assertIn("<table>", found._repr_html_())
        self.assertIn("logits", str(found))

    def test_against_another_model(self) -> None:
        other = save(self.folder / "other.onnx", scale=1.1)
        found = self.model.against(other)(self.tokens, self.bias)
        self.assertEqual((found.agrees, found.cause), (False, "unknown"))
        self.assertIn("The first tensor that differs is /0/", found.verdict)

    def test_nan_and_infinities(self) -> None:
        bias = self.bias.copy()
        bias[:3] = np.nan, np.inf, -np.inf
        found = self.model.against()(self.tokens, bias)
        self.assertTrue(found.agrees, found)
        report = self.model.check(self.tokens, bias)
        self.assertIn(report.verdict, ("equal", "within"))
        self.assertIsNone(report.first_bad)

    def test_sizes_that_are_open(self) -> None:
        model = onnx.load(str(self.path))
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
        for output in model.graph.output:
            output.type.tensor_type.shape.dim[0].dim_param = "n"
        path = self.folder / "open.onnx"
        onnx.save(model, str(path))
        with iree_dbg.onnx.compile(path, shapes={"tokens": (3,)}) as fixed:
            given = fixed(self.tokens[:3], self.bias)
            self.assertEqual(given["logits"].shape, (3, 16))
        with iree_dbg.onnx.compile(path) as dynamic:
            for count in 2, 5:
                found = dynamic.against()(self.tokens[:count], self.bias)
                self.assertTrue(found.agrees, found)
        with self.assertRaisesRegex(ValueError, "has no input 'x'; it has tokens, bias"):
            iree_dbg.onnx.compile(path, shapes={"x": (3,)})

    def test_what_is_no_model(self) -> None:
        with self.assertRaises(FileNotFoundError):
            iree_dbg.onnx.compile(self.folder / "absent.onnx")
        broken = self.folder / "broken.onnx"
        broken.write_bytes(b"\x00not a model")
        with self.assertRaisesRegex(iree_dbg.Error, "broken.onnx cannot be imported"):
            iree_dbg.onnx.compile(broken)


class CommandLine(unittest.TestCase):
    """`iree-dbg compile`, `run` and `debug` with a model."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def iree_dbg(self, *arguments: str, status: int = 0) -> str:
        ran = subprocess.run(
            [os.environ["IREE_DBG"], *arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.assertEqual(ran.returncode, status, ran.stdout)
        return ran.stdout

    def expected(self, name: str, **feed: np.ndarray) -> "dict[str, np.ndarray]":
        """Every tensor of a model."""
        import onnxruntime

        model = onnx.load(self.folder / name)
        known = {it.name for it in model.graph.output}
        names = [it for node in model.graph.node for it in node.output]
        more = [onnx.ValueInfoProto(name=it) for it in names if it not in known]
        model.graph.output.extend(more)
        session = onnxruntime.InferenceSession(model.SerializeToString())
        return dict(zip(names, session.run(names, feed)))

    def test_a_model_is_run_and_debugged_by_its_names(self) -> None:
        save(self.folder / "classifier.onnx")
        feed = {"tokens": np.array([0, 3, 8, 1, 1, 5]), "bias": np.linspace(-1, 1, 16, dtype="f4")}
        for name, array in feed.items():
            np.save(self.folder / f"{name}.npy", array)
        given = ["--input=@tokens.npy", "--input=@bias.npy"]
        expected = self.expected("classifier.onnx", **feed)
        outputs = ["--output=@logits.npy", "--output=@probabilities.npy"]
        self.iree_dbg("run", "classifier.onnx", *given, *outputs)
        for name in "logits", "probabilities":
            found = np.load(self.folder / f"{name}.npy")
            np.testing.assert_allclose(found, expected[name], rtol=1e-5, atol=1e-6)
        # The module lies in another folder than the model, whose names it has all the same.
        (self.folder / "made").mkdir()
        made = self.iree_dbg("compile", "classifier.onnx", "-o", "made/classifier.vmfb")
        self.assertIn("made/classifier.onnx.mlir", made.splitlines())
        for program in "classifier.onnx", "made/classifier.vmfb":
            shown = self.iree_dbg(
                "debug", program, *given, "--batch",
                "-ex", "break dispatch '*' after", "-ex", "run", "-ex", "continue",
                "-ex", 'save %"/0/Relu_output_0" relu.npy',
            )  # fmt: skip
            self.assertIn("classifier.onnx.mlir:", shown)
            found = np.load(self.folder / "relu.npy")
            (self.folder / "relu.npy").unlink()
            np.testing.assert_allclose(found, expected["/0/Relu_output_0"], rtol=1e-5, atol=1e-6)

    def test_a_module_is_compared_with_its_model(self) -> None:
        save(self.folder / "classifier.onnx")
        save(self.folder / "other.onnx", scale=1.001)
        np.save(self.folder / "tokens.npy", np.array([0, 3, 8, 1, 1, 5]))
        np.save(self.folder / "bias.npy", np.linspace(-1, 1, 16, dtype="f4"))
        self.iree_dbg("compile", "classifier.onnx", "-o", "classifier.vmfb")
        given = ["--input=@tokens.npy", "--input=@bias.npy"]
        told = self.iree_dbg("diff", "classifier.vmfb", "classifier.onnx", *given)
        self.assertIn("B: ONNX Runtime on", told)
        for name in "/0/Relu_output_0", "logits", "probabilities":
            self.assertRegex(told, rf'"{name}" .* (equal|within)')
        self.assertIn("the results agree", told)
        # Not every dispatch leaves one tensor of the model.
        whole = ["--require-compared=100%", *given]
        status = 3 if re.search(r"\d+ of \d+ dispatches compared", told) else 0
        self.iree_dbg("diff", "classifier.vmfb", "classifier.onnx", *whole, status=status)
        told = self.iree_dbg("diff", "classifier.vmfb", "other.onnx", *given, status=1)
        self.assertRegex(told, r'"/0/Relu_output_0" .* DIFFERS')
        told = self.iree_dbg("diff", "classifier.vmfb", "other.onnx", given[0], status=2)
        self.assertIn("the model takes 2 inputs (tokens, bias), and 1 were given", told)
        flags = ["--reference", *given]
        told = self.iree_dbg("diff", "classifier.vmfb", "classifier.onnx", *flags, status=2)
        self.assertIn("the model is side B", told)

    def test_an_older_model_is_brought_to_a_version_that_is_known(self) -> None:
        nodes = [helper.make_node("Softmax", ["x"], ["y"], name="/softmax", axis=1)]
        about = [helper.make_tensor_value_info(it, TensorProto.FLOAT, [2, 4]) for it in "xy"]
        graph = helper.make_graph(nodes, "main", about[:1], about[1:])
        opsets = [helper.make_opsetid("", 11)]
        old = helper.make_model(graph, opset_imports=opsets, ir_version=7)
        onnx.save(old, self.folder / "old.onnx")
        x = np.arange(8, dtype="f4").reshape(2, 4)
        np.save(self.folder / "x.npy", x)
        given = ["run", "old.onnx", "--input=@x.npy", "--output=@y.npy"]
        told = self.iree_dbg(*given, status=1)
        self.assertIn("note: the model is of opset 11", told)
        self.assertIn("flag --opset-version=17", told)
        self.iree_dbg(*given, "--opset-version=17")
        found = np.load(self.folder / "y.npy")
        np.testing.assert_allclose(found, self.expected("old.onnx", x=x)["y"], rtol=1e-6)

    def test_what_is_no_model_is_refused_in_a_sentence(self) -> None:
        (self.folder / "bad.onnx").write_bytes(b"no model at all")
        told = self.iree_dbg("compile", "bad.onnx", "-o", "bad.vmfb", status=1)
        self.assertRegex(told, r"\Aerror: bad\.onnx cannot be imported: [^\n]+\n\Z")
        self.assertEqual([it.name for it in self.folder.iterdir()], ["bad.onnx"])


if __name__ == "__main__":
    result = unittest.main(verbosity=1, exit=False).result
    failed = len(result.failures) + len(result.errors)
    print(f"{max(result.testsRun - failed, 0)} passed, {failed} failed")
    sys.exit(0 if result.wasSuccessful() else 1)
