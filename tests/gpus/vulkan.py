"""Devices of Vulkan: results as IREE's own runtime has them, bit by bit, and what the debugger says
of dispatches that are wrong.

    usage: tests/gpus/vulkan.py [Class.test]...

IREE's runtime uses the same driver and the same shaders, so that nothing may differ. A machine
without a graphics processor has Mesa's lavapipe, a Vulkan device on the CPU.
"""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

import support
from programs import PROGRAMS, matmul
from support import IREE_DBG, Case, arguments

VULKAN = "--iree-hal-target-device=vulkan"
# What the default target cannot say with addresses: it has no numbers of 8 and 16 bits.
SMALL = ("i8", "i16", "f16")
compiled = partial(support.compiled, "vulkan")
by_iree = partial(support.by_iree, "vulkan")
by_us = partial(support.by_us, "vulkan")


class Results(Case):
    """Results are IREE's."""

    def same(self, name, *flags):
        """Nothing if both have the same bits; else what is wrong."""
        try:
            module = compiled(name, self.folder, *flags, is_plain=True)
            inputs = arguments(name, self.folder)
            theirs, ours = (by(module, inputs, self.folder) for by in (by_iree, by_us))
            return None if theirs == ours else f"{name}: other bits"
        except AssertionError as error:
            return f"{name}: {error}"

    def all_same(self, names, *flags):
        with ThreadPoolExecutor(2) as pool:
            wrong = [it for it in pool.map(lambda name: self.same(name, *flags), names) if it]
        self.assertEqual(wrong, [])

    def test_descriptors(self):
        self.all_same(PROGRAMS, "--iree-vulkan-dispatch-abi=descriptors")

    def test_addresses(self):
        names = [name for name in PROGRAMS if not any(small in name for small in SMALL)]
        self.all_same(names, "--iree-vulkan-dispatch-abi=bda")

    def test_other_targets(self):
        """Types of 8 and 16 bits as the device itself has them."""
        names = [name for name in PROGRAMS if any(small in name for small in SMALL)]
        self.all_same(names, "--iree-vulkan-target=ampere")

    def test_memory_of_others_is_copied(self):
        """Guarded memory is not the device's: it is copied there and back."""
        for name in ("layers", "dynamic", "add_i16"):
            module = compiled(name, self.folder, is_plain=True)
            inputs = arguments(name, self.folder)
            guarded = by_us(module, inputs, self.folder, "--guard")
            self.assertEqual(guarded, by_iree(module, inputs, self.folder), name)

    def test_validation_layers_are_content(self):
        for name in ("layers", "dynamic"):
            for abi in ("descriptors", "bda"):
                flag = f"--iree-vulkan-dispatch-abi={abi}"
                module = compiled(name, self.folder, flag, is_plain=True)
                inputs = arguments(name, self.folder)
                by_us(module, inputs, self.folder, "--vulkan_validation_layers")


class Debugged(Case):
    """A dispatch on a device is debugged as machine code is."""

    def test_a_dispatch_is_stepped_into_and_back(self):
        module = compiled("layers", self.folder)
        out = self.script(
            "vulkan", module, arguments("layers", self.folder),
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

    def test_a_wrong_dispatch_of_the_compiler_is_found(self):
        """Eight-bit additions of the default target are wrong in the last two of 66 elements."""
        module, inputs = compiled("add_i8", self.folder), arguments("add_i8", self.folder)
        command = ["diff", "--device=vulkan", module, "--function=main", *inputs]
        status, out = self.iree_dbg(*command)
        self.assertEqual(status, 1, out)
        self.assertIn("2 of 66 elements differ", out)
        self.assertIn("its bytecode is right, and the machine code is wrong", out)
        # The same program for a device that has numbers of eight bits is right.
        module = compiled("add_i8", self.folder, "--iree-vulkan-target=ampere")
        self.assertEqual(self.iree_dbg(*command)[0], 0)

    def test_a_difference_is_caught(self):
        module, inputs = compiled("add_i8", self.folder), arguments("add_i8", self.folder)
        out = self.script("vulkan", module, inputs, "catch difference", "run", "rerun")
        self.assertIn("than its text means: 2 of 66 elements, the worst at [6", out)
        self.assertIn("it has left the same bytes as before in %r", out)

    def test_a_source_is_compiled_for_its_device(self):
        """And where a result is wrong, the other back end runs on the processor."""
        (self.folder / "add_i8.mlir").write_text(PROGRAMS["add_i8"][0])
        inputs = arguments("add_i8", self.folder)
        status, out = self.iree_dbg("run", "add_i8.mlir", "--device=vulkan", *inputs)
        self.assertEqual((status, "6x11xi8=" in out), (0, True), out)
        values = [np.load(self.folder / f"add_i8{index}.npy") for index in range(2)]
        np.save(self.folder / "right.npy", values[0] + values[1])
        expected = ["--expect=right.npy"]
        status, out = self.iree_dbg("why", "add_i8.mlir", "--device=vulkan", *inputs, *expected)
        self.assertEqual(status, 1, out)
        out = " ".join(out.split())
        self.assertIn("of @main, compiled for vulkan, are not as expected", out)
        self.assertIn("by its text, evaluated in float64, its bytecode is right", out)
        self.assertIn("Compiled for llvm-cpu, its values are as expected", out)

    def test_two_devices_side_by_side(self):
        compiled("layers", self.folder)
        (self.folder / "layers.vmfb").rename(self.folder / "gpu.vmfb")
        (self.folder / "layers.vmfb.debug").rename(self.folder / "gpu.vmfb.debug")
        cpu = ["--iree-hal-target-device=local", "--iree-llvmcpu-target-cpu=generic",
               "--iree-hal-local-target-device-backends=llvm-cpu"]  # fmt: skip
        self.iree_dbg("compile", "layers.mlir", "-o", "cpu.vmfb", "--", *cpu)
        inputs = arguments("layers", self.folder)
        status, out = self.iree_dbg(
            "diff", "gpu.vmfb", "cpu.vmfb", "--device=vulkan", "--b-device=local-sync",
            "--function=main", *inputs,
        )  # fmt: skip
        self.assertEqual((status, "2 within tolerance" in out or "equal" in out), (0, True), out)

    def test_a_recording_says_on_what_it_ran(self):
        module, inputs = compiled("layers", self.folder), arguments("layers", self.folder)
        command = ["run", "--device=vulkan", "--record=x.run", f"--module={module}"]
        self.iree_dbg(*command, "--function=main", *inputs)
        (self.folder / "script").write_text("run\nreverse-continue\n")
        # What others may have sent does not run on a driver, unless that is allowed.
        _, refused = self.iree_dbg("debug", "--batch", "-x", "script", "x.run")
        _, allowed = self.iree_dbg("debug", "--sandbox=off", "--batch", "-x", "script", "x.run")
        self.assertIn("--sandbox=off", refused)
        self.assertIn("its dispatches run as bytecode, on the CPU", refused)
        self.assertIn("4x6xf32=", allowed)
        self.assertNotIn("differ", allowed)


    def test_a_recording_with_results_needs_no_device(self):
        module, inputs = compiled("layers", self.folder), arguments("layers", self.folder)
        command = ["run", "--device=vulkan", "--record=x.run", "--with-results"]
        _, results = self.iree_dbg(*command, f"--module={module}", "--function=main", *inputs)
        walk = "goto 2\nprint operand[0]\nreverse-next\nprint operand[0]\ncontinue\n"
        (self.folder / "script").write_text(walk)
        walked = ["debug", "--batch", "-x", "script", "x.run"]
        status, here = self.iree_dbg(*walked)
        no_driver = {"VK_DRIVER_FILES": "/nowhere", "VK_ICD_FILENAMES": "/nowhere"}
        _, none = self.iree_dbg("run", "--list_devices", **no_driver)
        self.assertNotIn("vulkan://", none)
        self.assertEqual((status, here), self.iree_dbg(*walked, **no_driver))
        self.assertEqual(status, 0, here)
        self.assertIn("4x6xf32=", results)
        self.assertIn(results[results.index("4x6xf32=") :].strip(), here)
        self.assertEqual(here.count("operand[0] = ["), 2, here)


class Editors(Case):
    """The same by the debug adapter, and in Python."""

    def test_an_editor_stops_at_a_dispatch(self):
        compiled("layers", self.folder)
        adapter = subprocess.Popen(
            [IREE_DBG, "dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=self.folder
        )
        self.addCleanup(adapter.communicate)
        self.addCleanup(adapter.kill)
        seq = 0

        def send(command, **given):
            nonlocal seq
            seq += 1
            message = {"seq": seq, "type": "request", "command": command, "arguments": given}
            text = json.dumps(message).encode()
            adapter.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(text), text))
            adapter.stdin.flush()
            return seq

        def received(is_wanted):
            while True:
                length = 0
                while line := adapter.stdout.readline().strip():
                    name, _, value = line.partition(b":")
                    length = int(value) if name == b"Content-Length" else length
                message = json.loads(adapter.stdout.read(length))
                if is_wanted(message):
                    return message.get("body")

        def asked(command, **given):
            seq = send(command, **given)
            return received(lambda it: it.get("request_seq") == seq)

        def event(name):
            return received(lambda it: it.get("event") == name)

        asked("initialize", adapterID="iree", linesStartAt1=True, columnsStartAt1=True)
        launch = {"program": str(self.folder / "layers.vmfb"), "inputs": ["4x8xf32=0.5"]}
        send("launch", device="vulkan", **launch)
        event("initialized")
        source = {"path": str(self.folder / "layers.mlir")}
        asked("setBreakpoints", source=source, breakpoints=[{"line": 14}])
        send("configurationDone")
        self.assertEqual(event("stopped")["reason"], "breakpoint")
        [frame, *_] = asked("stackTrace", threadId=1)["stackFrames"]
        self.assertEqual(frame["line"], 14, frame)
        scopes = asked("scopes", frameId=frame["id"])["scopes"]
        variables = [
            variable
            for scope in scopes
            for variable in asked(
                "variables", variablesReference=scope["variablesReference"]
            )["variables"]
        ]
        values = {it["name"]: it["value"] for it in variables}
        # The first column of the weights adds up to 2.6.
        self.assertTrue(values["%t"].startswith(f"[{np.tanh(1.3):.4f}"), values["%t"])

    def test_python_calls(self):
        module = compiled("layers", self.folder)
        inputs = arguments("layers", self.folder)
        sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "runtime" / "python"))
        import iree_dbg

        program = iree_dbg.open(str(module), device="vulkan")
        result = program.main(np.load(self.folder / "layers0.npy"))
        np.save(self.folder / "python.npy", np.asarray(result))
        ours = (self.folder / "python.npy").read_bytes()
        self.assertEqual(ours, by_iree(module, inputs, self.folder))


class Refusals(Case):
    """What is missing is named."""

    def refused(self, *flags, **environment):
        """What is said where a program does not run."""
        if not (self.folder / "layers.vmfb").exists():
            compiled("layers", self.folder)
        command = ["run", "--module=layers.vmfb", "--function=main", "--input=4x8xf32=1"]
        status, out = self.iree_dbg(*command, *flags, **environment)
        self.assertEqual(status, 1, out)
        return out

    def test_no_library(self):
        out = self.refused("--device=vulkan", "--vulkan_libvulkan_search_path=/nowhere/lib.so")
        self.assertIn("apt-get install libvulkan1 mesa-vulkan-drivers", out)

    def test_no_driver(self):
        out = self.refused("--device=vulkan", VK_ICD_FILENAMES="/nowhere", VK_DRIVER_FILES="/nowhere")
        self.assertIn("Vulkan has no device", out)
        self.assertIn("mesa-vulkan-drivers", out)

    def test_no_such_device(self):
        self.assertIn("there are: vulkan://GPU-", self.refused("--device=vulkan://7"))
        self.assertIn("vulkan://GPU-", self.refused("--device=vulkan://GPU-" + 32 * "0"))

    def test_shaders_that_may_not_run(self):
        compiled("layers", self.folder)
        # With it, the dispatches would run as bytecode.
        (self.folder / "layers.vmfb.debug").unlink()
        for flag in ("--no-native", "--sandbox=on"):
            self.assertIn("its code runs on the device", self.refused("--device=vulkan", flag))

    def test_a_dispatch_that_takes_too_long(self):
        (self.folder / "long.mlir").write_text(matmul("f32", "f32", 4096, 4096, 4096)[0])
        status, out = self.iree_dbg("compile", "long.mlir", "-o", "long.vmfb", "--", VULKAN)
        self.assertEqual(status, 0, out)
        command = ["run", "--device=vulkan", "--module=long.vmfb", "--function=main"]
        inputs = 2 * ["--input=4096x4096xf32=1"]
        status, out = self.iree_dbg(*command, *inputs, "--vulkan-timeout=1")
        self.assertEqual(status, 1, out)
        self.assertIn("DEADLINE_EXCEEDED; the Vulkan device did not end its work in 1 s", out)
        self.assertIn("in dispatch @main_dispatch_0", out)


if __name__ == "__main__":
    support.main()
