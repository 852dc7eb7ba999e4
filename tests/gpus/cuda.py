"""Devices of CUDA and HIP, by drivers that run kernels on the processor (tests/fake-gpu).

    usage: tests/gpus/cuda.py LIBRARY [Class.test]...

IREE's own driver for CUDA opens the same library, so that nothing may differ: not the bits of
results, and not what kernels are launched with. What is the same on real hardware is not tested.
"""

import io
import os
import re
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

import support
from programs import PROGRAMS, matmul
from support import Case, arguments

compiled = partial(support.compiled, "cuda")
HIP_TARGET = "--iree-rocm-target=gfx1100"
LIBRARIES = ("libcuda.so", "libcuda.so.1", "libamdhip64.so")
by_iree = partial(support.by_iree, "cuda")
by_us = partial(support.by_us, "cuda")


def loaded(data):
    """The array of a `.npy` file."""
    return np.load(io.BytesIO(data))


def patched(name, folder, *patches):
    """A program whose machine code has these patches, and its debug file."""
    module = compiled(name, folder)
    data = module.read_bytes()
    for old, new in patches:
        assert old in data and len(old) == len(new), old
        data = data.replace(old, new)
    module.write_bytes(data)
    # A debug file names its module by a digest, and who opens it is told which one is wanted.
    _, out, errors = support.run(support.IREE_DBG, "debug", "--batch", module, folder=folder)
    digests = re.findall(r"digest ([0-9a-f]+)", out + errors)
    assert len(digests) == 2, out + errors
    debug_file = Path(f"{module}.debug")
    with zipfile.ZipFile(debug_file) as file:
        members = [(member, file.read(member)) for member in file.infolist()]
    with zipfile.ZipFile(debug_file, "w") as file:
        for member, content in members:
            file.writestr(member, content.replace(*(digest.encode() for digest in digests)))
    return module


class Results(Case):
    """Results and launches are IREE's."""

    def same(self, name, *flags):
        """Nothing if both have the same bits and launches; else what is wrong."""
        logs = [self.folder / f"{name}.{side}" for side in ("theirs", "ours")]
        try:
            module = compiled(name, self.folder, is_plain=True)
            inputs = arguments(name, self.folder)
            theirs = by_iree(module, inputs, self.folder, FAKE_GPU_LOG=str(logs[0]))
            ours = by_us(module, inputs, self.folder, *flags, FAKE_GPU_LOG=str(logs[1]))
            if theirs != ours:
                return f"{name}: other bits"
            theirs, ours = (log.read_text() for log in logs)
            return None if theirs == ours else f"{name}: {theirs} and {ours}"
        except AssertionError as error:
            return f"{name}: {error}"

    def test_all_programs(self):
        with ThreadPoolExecutor(2) as pool:
            wrong = [it for it in pool.map(self.same, PROGRAMS) if it]
        self.assertEqual(wrong, [])

    def test_memory_of_others_is_copied(self):
        """Guarded memory is not the device's: it is copied there and back."""
        for name in ("layers", "dynamic", "add_i16"):
            self.assertIsNone(self.same(name, "--guard"))

    def test_a_device_without_managed_memory(self):
        """The second device gets memory of the host that it reaches over the bus."""
        for name in ("layers", "dynamic"):
            module = compiled(name, self.folder, is_plain=True)
            inputs = arguments(name, self.folder)
            second = support.by_us("cuda://1", module, inputs, self.folder)
            self.assertEqual(second, by_iree(module, inputs, self.folder), name)

    def test_the_interpreter_computes_what_a_processor_does(self):
        """Else it would be two wrong results that are equal."""
        for name in ("matmul_f32_large", "sum_i32", "add_i8", "dynamic", "layers"):
            module = compiled(name, self.folder, is_plain=True)
            inputs = arguments(name, self.folder)
            ours = loaded(by_us(module, inputs, self.folder))
            local = ["--iree-hal-local-target-device-backends=vmvx"]
            module = support.compiled("local", name, self.folder, *local, is_plain=True)
            processor = support.by_us("local-sync", module, inputs, self.folder)
            expected = loaded(processor)
            np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-5, err_msg=name)

    def test_hip(self):
        """Its code objects are for other processors: the fake driver knows one kernel by name."""
        module = support.compiled("hip", "add_f32", self.folder, HIP_TARGET, is_plain=True)
        inputs = arguments("add_f32", self.folder)
        ours = loaded(support.by_us("hip", module, inputs, self.folder))
        a, b = (np.load(self.folder / f"add_f32{index}.npy") for index in range(2))
        np.testing.assert_array_equal(ours, a + b)


class Debugged(Case):
    """A dispatch on a device is debugged as machine code is."""

    def test_a_dispatch_is_stepped_into_and_back(self):
        module = compiled("layers", self.folder)
        out = self.script(
            "cuda", module, arguments("layers", self.folder),
            "break layers.mlir:11", "record", "run", "step", "where", "finish", "delete 1",
            "finish", "who-wrote %t[0,0]", "reverse-next", "continue",
        )  # fmt: skip
        for expected in [
            "Breakpoint 1: layers.mlir:11, dispatch @main_dispatch_0_matmul_4x6x8_f32",
            "as bytecode at layers.mlir:11",
            "%t[0,0] was written by main, command 1: dispatch @main_dispatch_0_matmul_4x6x8_f32",
        ]:
            self.assertIn(expected, out)
        self.assertIn("4x6xf32=", out.splitlines()[-2], out)

    def test_dispatches_are_beside_their_bytecode(self):
        for name in ("layers", "dynamic"):
            module, inputs = compiled(name, self.folder), arguments(name, self.folder)
            command = ["diff", "--device=cuda", module, "--function=main", *inputs]
            status, out = self.iree_dbg(*command)
            self.assertEqual(status, 0, out)

    def test_a_patched_kernel_is_found(self):
        """PTX is text: another instruction of the same length."""
        inputs = arguments("layers", self.folder)
        command = ["diff", "--device=cuda", "layers.vmfb", "--function=main", *inputs]
        for patch in [(b"\tdiv.rn.f32", b"\tmul.rn.f32"), (b"\tadd.rn.f32", b"\tsub.rn.f32")]:
            patched("layers", self.folder, patch)
            status, out = self.iree_dbg(*command)
            self.assertEqual(status, 1, out)
            self.assertIn("its bytecode is right, and the machine code is wrong", out)
        compiled("layers", self.folder)
        self.assertEqual(self.iree_dbg(*command)[0], 0)

    def test_nan_is_caught_at_its_operation(self):
        module = compiled("div_f32", self.folder)
        inputs = 2 * ["--input=3x4x5xf32=0"]
        out = self.script("cuda", module, inputs, "catch nan", "run")
        self.assertIn("Caught %r = arith.divf %a, %b is NaN: %a = 0, %b = 0", out)

    def test_python_calls(self):
        module = compiled("layers", self.folder)
        inputs = arguments("layers", self.folder)
        sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "runtime" / "python"))
        script = self.folder / "call.py"
        script.write_text(
            f"import sys; sys.path.insert(0, {sys.path[0]!r})\n"
            "import iree_dbg, numpy as np\n"
            "program = iree_dbg.open('layers.vmfb', device='cuda')\n"
            "np.save('python.npy', np.asarray(program.main(np.load('layers0.npy'))))\n"
        )
        status, _, errors = support.run(sys.executable, "call.py", folder=self.folder)
        self.assertEqual(status, 0, errors)
        ours = (self.folder / "python.npy").read_bytes()
        self.assertEqual(ours, by_iree(module, inputs, self.folder))


class Apart(Case):
    """A device in a process of its own."""

    def test_results_are_the_same(self):
        for device, name in [("cuda", "layers"), ("cuda", "dynamic"), ("vulkan", "layers")]:
            module = support.compiled(device, name, self.folder, is_plain=True)
            inputs = arguments(name, self.folder)
            apart = support.by_us(device, module, inputs, self.folder, "--gpu-apart")
            self.assertEqual(apart, support.by_us(device, module, inputs, self.folder), name)

    def test_a_dispatch_is_stepped_into_and_back(self):
        module = compiled("layers", self.folder)
        inputs = arguments("layers", self.folder)
        commands = ["break layers.mlir:11", "record", "run", "step", "finish", "delete 1", "finish",
                    "who-wrote %t[0,0]", "reverse-next", "continue"]  # fmt: skip
        here = self.script("cuda", module, inputs, *commands)
        apart = self.script("cuda", module, [*inputs, "--gpu-apart"], *commands)
        self.assertIn("%t[0,0] was written by main, command 1: dispatch", here)
        self.assertEqual(apart, here)

    def test_limits_are_the_same(self):
        module = compiled("layers", self.folder)
        inputs = arguments("layers", self.folder)
        command = ["run", "--device=cuda", f"--module={module}", "--function=main", *inputs]
        outcomes = set()
        for steps in (1, 2, 3, 4, 100):
            here = self.iree_dbg(*command, f"--max_steps={steps}")
            self.assertEqual(self.iree_dbg(*command, f"--max_steps={steps}", "--gpu-apart"), here)
            outcomes.add(here[0])
        self.assertEqual(outcomes, {0, 1})

    def test_a_driver_that_crashes_ends_only_its_process(self):
        module = compiled("layers", self.folder)
        (self.folder / "script").write_text("run\np 1 + 1\nrun\n")
        command = ["debug", "--device=cuda", "--gpu-apart", "--batch", "-x", "script", module]
        inputs = arguments("layers", self.folder)
        crashes = {"FAKE_GPU_CRASHES": "1"}
        _, out = self.iree_dbg(*command, "--function=main", *inputs, **crashes)
        self.assertEqual(out.count("it has ended by signal 6"), 2, out)
        self.assertIn("@main_dispatch_0_matmul_4x6x8_f32", out)
        self.assertIn("= 2", out)

    def test_a_dispatch_that_takes_too_long(self):
        module = compiled("layers", self.folder)
        command = ["run", "--device=cuda", "--gpu-apart", "--gpu-timeout=1", f"--module={module}"]
        inputs = arguments("layers", self.folder)
        status, out = self.iree_dbg(*command, "--function=main", *inputs, FAKE_GPU_HANGS="1")
        self.assertEqual(status, 1, out)
        self.assertIn("the CUDA device did not end its work in 1 s", out)


class Refusals(Case):
    """What is missing is named, and what goes wrong is told."""

    def refused(self, *flags, name="layers", inputs=("--input=4x8xf32=1",), **environment):
        """What is said where a program does not run."""
        if not (self.folder / f"{name}.vmfb").exists():
            compiled(name, self.folder)
        command = ["run", f"--module={name}.vmfb", "--function=main", *inputs]
        status, out = self.iree_dbg(*command, *flags, **environment)
        self.assertEqual(status, 1, out)
        return out

    def test_no_library(self):
        out = self.refused("--device=cuda", LD_LIBRARY_PATH="")
        self.assertIn("the library of CUDA cannot be opened", out)
        self.assertIn("install NVIDIA's driver", out)
        out = self.refused("--device=hip", LD_LIBRARY_PATH="")
        self.assertIn("install AMD's ROCm", out)

    def test_no_device(self):
        out = self.refused("--device=cuda", FAKE_GPU_DEVICES="0")
        self.assertIn("CUDA has no device", out)
        out = self.refused("--device=cuda://7")
        self.assertIn("CUDA has no device `cuda://7`; there are: cuda://GPU-c0c0", out)

    def test_another_device(self):
        """A program says what it was made for."""
        compiled("layers", self.folder)
        # With it, the dispatches would run as bytecode.
        (self.folder / "layers.vmfb.debug").unlink()
        out = self.refused("--device=local-sync")
        self.assertIn("run it with --device=cuda, where there is one", out)
        for flag in ("--no-native", "--sandbox=on"):
            self.assertIn("its code runs on the device", self.refused("--device=cuda", flag))

    def test_a_kernel_that_writes_where_it_may_not(self):
        """The driver ends everything; the debugger says where, and goes on without the device."""
        # What was the address of a buffer's element is that of one in another place.
        patched("add_f32", self.folder, (b"\tadd.s64", b"\tmul.s64"))
        inputs = arguments("add_f32", self.folder)
        out = self.refused("--device=cuda", name="add_f32", inputs=inputs)
        self.assertIn("the CUDA device ended the dispatch: ILLEGAL_ADDRESS", out)
        self.assertIn("in dispatch @main_dispatch_0_elementwise", out)
        self.assertIn("add_f32.mlir:3", out)

    def test_a_dispatch_that_takes_too_long(self):
        out = self.refused("--device=cuda", "--gpu-timeout=1", FAKE_GPU_HANGS="1")
        self.assertIn("DEADLINE_EXCEEDED; the CUDA device did not end its work in 1 s", out)

    def test_an_image_that_the_driver_does_not_take(self):
        patched("add_f32", self.folder, (b"ld.param.b64 \t%rd", b"ld.param.b64 \t&rd"))
        inputs = arguments("add_f32", self.folder)
        out = self.refused("--device=cuda", name="add_f32", inputs=inputs)
        self.assertIn("INVALID_PTX (a PTX JIT compilation failed): ", out)
        self.assertIn("in dispatch @main_dispatch_0_elementwise", out)

    def test_a_device_that_is_too_small(self):
        """A workgroup of more threads than the device has: 32 becomes 8192."""
        one, few, many = (number.to_bytes(4, "little") for number in (1, 32, 8192))
        patched("add_f32", self.folder, (few + one + one, many + one + one))
        inputs = arguments("add_f32", self.folder)
        out = self.refused("--device=cuda", name="add_f32", inputs=inputs)
        self.assertIn("workgroups of [8192, 1, 1] threads: fake device 0 allows", out)


if __name__ == "__main__":
    folder = tempfile.TemporaryDirectory()
    library = Path(sys.argv.pop(1)).resolve()
    for link in LIBRARIES:
        (Path(folder.name) / link).symlink_to(library)
    os.environ["LD_LIBRARY_PATH"] = folder.name
    support.main()
