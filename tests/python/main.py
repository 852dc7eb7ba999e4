"""The module `iree_dbg` against iree.runtime and NumPy: `tests/run python`.

    usage: main.py [TEST]...

The library is that of IREE_DBG_PYTHON_LIBRARY, the program that of IREE_DBG. Models are compiled
into a directory of their own.
"""

from __future__ import annotations

import base64
import contextlib
import copy
import doctest
import faulthandler
import gc
import inspect
import linecache
import math
import os
import pickle
import platform
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import unittest
import warnings
import zlib
from pathlib import Path
from typing import Iterator

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent.parent / "runtime" / "python"
sys.path[:0] = [str(PACKAGE), str(HERE)]

import numpy as np  # noqa: E402

import iree_dbg  # noqa: E402
from dap_client import Client  # noqa: E402

MODELS = Path(tempfile.mkdtemp(prefix="iree-dbg-python-"))
CPU = [
    "--iree-input-demote-f64-to-f32=false",
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
]


def compiled(source: Path, name: str, *flags: str) -> str:
    target = MODELS / f"{name}.vmfb"
    if not target.exists():
        subprocess.run(["iree-compile", *CPU, *flags, str(source), "-o", str(target)], check=True)
    return str(target)


def debuggable(name: str) -> str:
    """A model with its debug file, beside a copy of its source."""
    target = MODELS / f"{name}.vmfb"
    if not target.exists():
        shutil.copy(HERE / f"{name}.mlir", MODELS)
        command = [os.environ["IREE_DBG"], "compile", f"{name}.mlir", "-o", target.name]
        subprocess.run(command, check=True, cwd=MODELS, stdout=subprocess.DEVNULL)
    return str(target)


def open_loop(**options: object) -> iree_dbg.Program:
    return iree_dbg.open(debuggable("loop"), imports={"host.twice": lambda n: 2 * n}, **options)


#: mov eax, 41; syscall; xor eax, eax; ret
SOCKET = b"\xb8\x29\0\0\0\x0f\x05\x31\xc0\xc3"


def with_code(module: bytes, code: bytes) -> bytes:
    """The module with these instructions at the beginning of its first dispatch."""
    elf = module.index(b"\x7fELF")
    (headers,), (count,) = struct.unpack_from("<Q", module, elf + 32), struct.unpack_from("<H", module, elf + 56)
    for header in range(elf + headers, elf + headers + 56 * count, 56):
        kind, flags, offset = struct.unpack_from("<IIQ", module, header)
        if kind == 1 and flags & 1:
            return module[: elf + offset] + code + module[elf + offset + len(code) :]
    raise AssertionError("no code in it")


@contextlib.contextmanager
def interrupted(after: float) -> Iterator[None]:
    """Ctrl-C after some seconds, which ends what runs here within a few seconds more.

    The shell may have this process ignore it, as those in the background do.
    """

    def late(*_: object) -> None:
        raise TimeoutError("what Ctrl-C should have ended still runs")

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    alarm = signal.signal(signal.SIGALRM, late)
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, after + 10)
    timer.start()
    try:
        yield
    finally:
        timer.join()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, alarm)
        signal.signal(signal.SIGINT, before)


def failure(call: object) -> BaseException:
    """The exception of a call, with its traceback, which `assertRaises` takes away."""
    try:
        call()
    except Exception as error:
        return error
    raise AssertionError("the call has not failed")


class Calls(unittest.TestCase):
    """Arguments and results: what iree.runtime gives, and what it converts."""

    @classmethod
    def setUpClass(cls) -> None:
        import iree.runtime as runtime

        cls.path = compiled(HERE / "types.mlir", "types")
        cls.program = iree_dbg.open(cls.path)
        config = runtime.Config("local-sync")
        cls.module = runtime.VmModule.copy_buffer(config.vm_instance, Path(cls.path).read_bytes())
        cls.oracle = runtime.load_vm_module(cls.module, config)

    def both(self, name: str, *arguments: object) -> np.ndarray:
        ours = self.program[name](*arguments)
        theirs = getattr(self.oracle, name)(*arguments)
        np.testing.assert_array_equal(ours, np.asarray(theirs))
        self.assertEqual(ours.shape, np.asarray(theirs).shape)
        return ours

    def test_arrays_are_those_of_the_runtime(self) -> None:
        x = np.arange(4, dtype=np.float32)
        self.assertEqual(self.both("add", x, x + 1).dtype, np.float32)
        self.both("f64", np.array([[1, 2], [3, -0.0]]))
        self.both("i64", np.array([1, -2, 2**62]))
        self.both("i8", np.array([1, -128, 127], dtype=np.int8))
        self.both("f16", np.array([1, 0.5, 65504, np.inf], dtype=np.float16))
        self.both("rank0", np.array(2.5, dtype=np.float32))
        square = np.arange(12, dtype=np.int32).reshape(3, 4)
        for strided in square, square.T, square[::2, 1::2], square[::-1, ::-1]:
            np.testing.assert_array_equal(self.program.wide(strided), 2 * strided)

    def test_other_elements(self) -> None:
        import ml_dtypes

        truth = np.array([True, False, True, True])
        self.assertEqual(self.program["i1"](truth).dtype, np.bool_)
        np.testing.assert_array_equal(self.program["i1"](truth), truth)
        brain = np.array([1, 2.5, -3, 1e30], dtype=ml_dtypes.bfloat16)
        self.assertEqual(self.program.bf16(brain).dtype, brain.dtype)
        np.testing.assert_array_equal(self.program.bf16(brain), brain)
        plane = np.array([1 + 2j, -3j, 4], dtype=np.complex64)
        np.testing.assert_array_equal(self.program.c64(plane), plane)
        self.assertEqual(self.program.empty(np.zeros((0, 3), np.float32)).shape, (0, 3))

    def test_what_is_no_array_is_converted(self) -> None:
        self.assertEqual(self.program.add([1, 2, 3, 4], (1, 1, 1, 1)).tolist(), [2, 3, 4, 5])
        self.assertEqual(float(self.program.rank0(3)), 3)
        self.assertEqual(float(self.program.rank0(np.float32(3))), 3)
        self.assertEqual(self.program.add(np.arange(4), np.ones(4)).dtype, np.float32)
        swapped = np.arange(4, dtype=">f4")
        self.assertEqual(self.program.add(swapped, swapped).tolist(), [0, 2, 4, 6])
        memory = memoryview(np.arange(4, dtype=np.float32))
        self.assertEqual(self.program.add(memory, memory).tolist(), [0, 2, 4, 6])

    def test_dlpack(self) -> None:
        class Foreign:
            """A tensor that has nothing but DLPack."""

            def __init__(self, array: np.ndarray) -> None:
                self.array = array

            def __dlpack__(self, **options: object) -> object:
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self) -> object:
                return self.array.__dlpack_device__()

        given = Foreign(np.arange(4, dtype=np.float32))
        self.assertEqual(self.program.add(given, given).tolist(), [0, 2, 4, 6])
        back = np.from_dlpack(self.program.add(given, given))
        self.assertEqual(back.tolist(), [0, 2, 4, 6])

    def test_numbers_and_their_ranges(self) -> None:
        given = (-128, 2**31 - 1, -(2**63), 0.1, 0.1)
        ours = self.program.numbers(*given)
        self.assertEqual(ours, tuple(self.oracle.numbers(*given)))
        self.assertEqual(ours[3], float(np.float32(0.1)))
        # A signless type takes numbers with and without a sign; what it gives has one.
        self.assertEqual(self.program.numbers(200, 2**32 - 1, 0, 0, 0)[:2], (-56, -1))
        for wrong in (256, 0, 0), (-129, 0, 0), (0, 2**32, 0), (0, 0, 2**64):
            with self.assertRaises(OverflowError):
                self.program.numbers(*wrong, 0, 0)
        with self.assertRaises(OverflowError):
            self.program["i8"](np.array([1, 2, 300]))
        with self.assertRaises(TypeError):
            self.program["i8"](np.array([1, 2, 3.5]))
        self.assertEqual(self.program["i8"]([255, 1, 2]).tolist(), [-1, 1, 2])

    def test_what_does_not_fit_names_its_place(self) -> None:
        x = np.zeros(4, np.float32)
        for given, kind, text in [
            ((x,), TypeError, "missing a required argument: 'y'"),
            ((x, x, x), TypeError, "too many positional arguments"),
            ((x, np.zeros(5, np.float32)), ValueError, "args[1]: expected"),
            ((x, "text"), TypeError, "args[1]: expected tensor<4xf32>, got str 'text'"),
            ((x, [[1], [1, 2]]), ValueError, "args[1]"),
            ((x, np.zeros(4, complex)), TypeError, "would lose"),
        ]:
            with self.assertRaises(kind) as caught:
                self.program.add(*given)
            self.assertIn(text, str(caught.exception))

    def test_results_are_ones_own(self) -> None:
        x = np.arange(4, dtype=np.float32)
        result = self.program.add(x, x)
        result += 1
        given = self.program.f64(np.ones((2, 2)))
        del self.program.__dict__["_last"]
        self.program._last = None
        gc.collect()
        self.assertEqual(result.tolist(), [1, 3, 5, 7])
        self.assertEqual(given.tolist(), [[1, 1], [1, 1]])
        self.assertEqual(x.tolist(), [0, 1, 2, 3])

    def test_signatures(self) -> None:
        signature = inspect.signature(self.program.numbers)
        self.assertEqual(list(signature.parameters), list("abcde"))
        self.assertEqual(signature.parameters["a"].annotation, "i8")
        self.assertIn("numbers", dir(self.program))
        self.assertIn("tensor<4xf32>", repr(self.program))
        self.assertIn("Declared as", self.program.add.__doc__)
        x = np.ones(4, np.float32)
        self.assertEqual(self.program.add(y=x, x=x).tolist(), [2, 2, 2, 2])
        with self.assertRaisesRegex(AttributeError, "it has add, "):
            self.program.missing

    def test_asynchronous_functions(self) -> None:
        path = compiled(HERE / "model.mlir", "async", "--iree-execution-model=async-external")
        program = iree_dbg.open(path)
        self.assertTrue(program.main.asynchronous)
        for _ in range(3):
            self.assertEqual(program.main([1, 2, 3, 4], 2).tolist(), [2, 4, 6, 8])

    def test_from_the_runtime(self) -> None:
        x = np.arange(4, dtype=np.float32)
        for module in self.module, self.oracle:
            self.assertEqual(iree_dbg.from_runtime(module).add(x, x).tolist(), [0, 2, 4, 6])
        with self.assertRaisesRegex(TypeError, "iree.runtime has no bytes"):
            iree_dbg.from_runtime(object())
        self.assertEqual(iree_dbg.open(Path(self.path).read_bytes()).add(x, x)[1], 2)

    def test_parameters(self) -> None:
        import iree.runtime as runtime

        source = MODELS / "scaled.mlir"
        source.write_text(
            'util.global private @w = #flow.parameter.named<"model"::"w"> : tensor<4xf32>\n'
            "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
            "  %w = util.global.load @w : tensor<4xf32>\n"
            "  %0 = arith.mulf %x, %w : tensor<4xf32>\n"
            "  return %0 : tensor<4xf32>\n"
            "}\n"
        )
        path = compiled(source, "scaled")
        w, x = np.array([1, 2, 3, 4], dtype=np.float32), np.full(4, 2, np.float32)
        index = runtime.ParameterIndex()
        index.add_buffer("w", w.tobytes())
        archive = MODELS / "w.irpa"
        index.create_archive_file(str(archive))
        for given in {"w": w}, str(archive), [archive], index:
            program = iree_dbg.open(path, parameters={"model": given})
            self.assertEqual(program.main(x).tolist(), [2, 4, 6, 8])
        with self.assertRaises(iree_dbg.Error):
            iree_dbg.open(path)
        # Only the number of bytes is known without the type, which the source has.
        copied = MODELS / "copied.vmfb"
        shutil.copy(path, copied)
        moved = source.rename(MODELS / "moved")
        unchecked = "parameter 'w' of 'model': its elements are {}, and neither a debug file nor"
        for given, is_said in [
            (w.tobytes(), False),
            (bytearray(w.tobytes()), False),
            (memoryview(w.tobytes()), False),
            (memoryview(w), True),
            (w, True),
        ]:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                program = iree_dbg.open(copied, parameters={"model": {"w": given}})
            self.assertEqual(program.main(x).tolist(), [2, 4, 6, 8])
            told = [str(it.message) for it in said if it.category is UserWarning]
            self.assertEqual(len(told), int(is_said), given)
            self.assertTrue(all(it.startswith(unchecked.format("float32")) for it in told), told)
        # iree.runtime takes the bytes of any array; here it is said that nothing checks them.
        with self.assertWarnsRegex(UserWarning, unchecked.format("int32")) as said_where:
            iree_dbg.open(copied, parameters={"model": {"w": w.astype(np.int32)}})
        self.assertEqual(said_where.filename, __file__)
        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        for given in w.astype(np.float64), w.astype(np.float64).tobytes(), [1, 2, 3, 4]:
            with self.assertRaisesRegex(ValueError, "`w` has 32 bytes .* only the first 16"):
                iree_dbg.open(copied, parameters={"model": {"w": given}})
        with self.assertRaisesRegex(iree_dbg.Error, "size=8.; it is 2xf32"):
            iree_dbg.open(copied, parameters={"model": {"w": w[:2]}})
        moved.rename(source)

    def test_parameters_are_converted_as_arguments_are(self) -> None:
        source = MODELS / "weighted.mlir"
        source.write_text(
            'util.global private @w = #flow.parameter.named<"model"::"w"> : tensor<2x3xf32>\n'
            "func.func @main() -> tensor<2x3xf32> {\n"
            "  %w = util.global.load @w : tensor<2x3xf32>\n"
            "  %0 = arith.addf %w, %w : tensor<2x3xf32>\n"
            "  return %0 : tensor<2x3xf32>\n"
            "}\n"
        )
        command = [os.environ["IREE_DBG"], "compile", source.name, "-o", "weighted.vmfb"]
        subprocess.run(command, check=True, cwd=MODELS, stdout=subprocess.DEVNULL)
        beside = compiled(source, "weighted-plain")
        w = np.array([[1, -2, 3], [0.5, np.inf, 0]])
        for path in MODELS / "weighted.vmfb", beside:

            def main(given: object) -> list:
                opened = iree_dbg.open(path, parameters={"model": {"w": given}})
                return opened.main().tolist()

            for kind in "f8", "f4", "f2", ">f4":
                self.assertEqual(main(w.astype(kind)), (2 * w).tolist(), kind)
            self.assertEqual(main(w.T.copy().T), (2 * w).tolist())
            for kind in "i8", "i4", "u1", "?":
                ones = np.ones((2, 3), kind)
                self.assertEqual(main(ones), [[2, 2, 2]] * 2, kind)
            self.assertEqual(main([[1, 2, 3], [4, 5, 6]]), [[2, 4, 6], [8, 10, 12]])
            for given, kind, text in [
                (w.T, iree_dbg.Error, "3x2xf32 .24 bytes., and the program reads it as tensor<2x3"),
                (np.full((2, 3), 2**24 + 1), OverflowError, "16777217 is no f32"),
                (np.full((2, 3), 1e39), OverflowError, "parameter 'w' of 'model': 1e.39 does not"),
                (w + 1j, TypeError, "parameter 'w' of 'model': expected tensor<2x3xf32>"),
                (np.ma.masked_invalid(w), TypeError, "a masked array"),
            ]:
                with self.assertRaisesRegex(kind, text):
                    main(given)
            # An archive says of which type it is, too.
            for given, fits in [
                (w.astype("f4"), True),
                (w.astype("f4").reshape(-1).view("u1"), True),
                (np.ones((2, 3), "i4"), False),
                (np.ones((2, 3), "u4"), False),
            ]:
                np.save(MODELS / "w.npy", given)
                command = [os.environ["IREE_DBG"], "run", f"--module={path}", "--function=main"]
                command.append(f"--parameters=model={MODELS / 'w.npy'}")
                ran = subprocess.run(command, capture_output=True, text=True)
                self.assertEqual(ran.returncode == 0, fits, ran.stderr)
                self.assertTrue(fits or "reads it as tensor<2x3xf32>" in ran.stderr, ran.stderr)

    def test_results_that_are_left_in_arguments(self) -> None:
        source = MODELS / "left.mlir"
        source.write_text(
            "func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32> {iree.abi.output = 0 : index})\n"
            "    -> tensor<?xf32> {\n"
            "  %0 = arith.addf %a, %a : tensor<?xf32>\n"
            "  return %0 : tensor<?xf32>\n"
            "}\n"
        )
        main = iree_dbg.open(compiled(source, "left")).main
        x = np.array([1, 2, 3], np.float32)
        for offset in 0, 4, 16, 32, 64:
            memory = np.zeros(256, np.uint8)
            start = -memory.ctypes.data % 64 + offset
            for step in 1, 2, -1:
                array = memory[start : start + 24].view(np.float32)[::step][:3]
                self.assertEqual(main(x, array).tolist(), [2, 4, 6])
                self.assertEqual(array.tolist(), [2, 4, 6])
        line = np.arange(6, dtype=np.float32)
        main(line[:4], line[2:])
        self.assertEqual(line.tolist(), [0, 1, 0, 2, 4, 6])
        main(x, x)
        self.assertEqual(x.tolist(), [2, 4, 6])
        for given, kind, text in [
            ([0, 0, 0], TypeError, "leaves its result 0 there, so it takes an array"),
            (np.zeros(3), TypeError, "it takes elements of float32"),
            (np.broadcast_to(np.float32(0), (3,)), ValueError, "that can be written"),
            (np.zeros(5, np.float32), ValueError, "cannot be left in an array of shape .5,"),
        ]:
            with self.assertRaisesRegex(kind, text):
                main(x, given)

    def test_what_would_be_lost(self) -> None:
        rank0, wide = self.program.rank0, self.program.f64
        for given, text in (2**24 + 1, "is no f32"), (1e39, "does not fit f32"):
            for value in given, np.array(given):
                with self.assertRaisesRegex(OverflowError, text):
                    rank0(value)
            with self.assertRaisesRegex(OverflowError, text):
                self.program.numbers(0, 0, 0, given, 0)
        with self.assertRaisesRegex(OverflowError, "9007199254740993 is no f64"):
            wide(np.full((2, 2), 2**53 + 1))
        self.assertEqual(wide(np.full((2, 2), 2**60)).tolist(), [[2.0**60] * 2] * 2)
        self.assertEqual(float(rank0(0.1)), float(np.float32(0.1)))
        self.assertEqual(float(rank0(np.inf)), np.inf)
        with self.assertRaisesRegex(TypeError, "masked"):
            self.program.add(np.ma.masked_array(np.ones(4), [0, 1, 0, 0]), np.ones(4))
        self.assertEqual(float(rank0(np.ma.masked_array(2.5))), 2.5)
        with self.assertRaisesRegex(TypeError, "unexpected keyword argument 'zz'"):
            rank0(zz=1)

    def test_plain_arguments_are_as_converted_ones(self) -> None:
        source = MODELS / "same.mlir"
        types = "i8, i32, i64, f32, f64, index, tensor<2x3xf32>, tensor<?xi64>"
        slots = ", ".join(f"%{at}: {ty}" for at, ty in enumerate(types.split(", ")))
        names = ", ".join(f"%{at}" for at in range(8))
        source.write_text(f"func.func @main({slots}) -> ({types}) {{ return {names} : {types} }}")
        main = iree_dbg.open(compiled(source, "same")).main
        f32 = np.array([[0.0, -0.0, math.nan], [math.inf, -math.inf, 1e-45]], np.float32)
        i64 = np.array([-(2**63), -1, 0, 2**63 - 1])
        choices: list[list[object]] = [
            [0, -128, 127, 255, 256, -129, True, np.int8(-3), 1.0],
            [0, -(2**31), 2**31 - 1, 2**32 - 1, 2**32, -(2**31) - 1, False, np.uint32(7)],
            [0, -(2**63), 2**63 - 1, 2**64 - 1, 2**64, "1"],
            [0.0, -0.0, 0.1, 3.4028235e38, 3.5e38, math.inf, math.nan, 1e-46, 1, 2**24 + 1],
            [0.0, -0.0, 0.1, sys.float_info.max, -math.inf, math.nan, 5e-324, 3, np.float32(0.5)],
            [0, 2**63 - 1, 2**64, -1],
            [f32, f32.T.copy().T, f32.astype(">f4"), f32[::-1], f32[:, :2], f32.astype(np.float64),
             np.ma.masked_invalid(f32), np.zeros((2, 3), np.int8), f32.tolist(), f32.view(np.matrix)],
            [i64, i64[::2], i64[:0], i64.astype(np.int32), i64.astype(object), 5],
        ]
        plain = main._plain
        self.assertIsNotNone(plain)

        def told(how: object, values: list[object]) -> str:
            main._plain = how
            try:
                return repr([(it, it.dtype) if hasattr(it, "dtype") else it for it in main(*values)])
            except (TypeError, ValueError, OverflowError, iree_dbg.Error) as error:
                return repr(error)

        usual = [it[0] for it in choices]
        for at, values in enumerate(choices):
            for value in values:
                given = [*usual[:at], value, *usual[at + 1 :]]
                with self.subTest(at=at, value=value):
                    self.assertEqual(told(plain, given), told(None, given))


class Failures(unittest.TestCase):
    def test_the_traceback_has_lines_of_the_source(self) -> None:
        program = open_loop()
        error = failure(lambda: program.main(1, 0))
        self.assertIsInstance(error, ValueError)
        self.assertIsInstance(error, iree_dbg.Error)
        self.assertEqual(error.code, "INVALID_ARGUMENT")
        self.assertTrue(str(error).endswith("at loop.mlir:3:8 in inner"), error)
        entries = traceback.extract_tb(error.__traceback__)[-2:]
        source = str(MODELS / "loop.mlir")
        found = [(entry.filename, entry.lineno, entry.name) for entry in entries]
        self.assertEqual(found, [(source, 7, "main"), (source, 3, "inner")])
        self.assertEqual(entries[1].line, "%q = arith.divsi %n, %d : i32")
        self.assertEqual(program.main(9, 3), 3)

    def test_without_debug_information_there_are_frames(self) -> None:
        path = compiled(HERE / "loop.mlir", "plain", "--iree-vm-bytecode-module-strip-source-map")
        program = iree_dbg.open(path, imports={"host.twice": lambda n: n})
        error = failure(lambda: program.main(1, 0))
        self.assertIn("module.", "".join(traceback.format_tb(error.__traceback__)))

    def test_a_program_that_cannot_be_loaded(self) -> None:
        with self.assertRaisesRegex(iree_dbg.Error, "host.twice"):
            iree_dbg.open(debuggable("loop"))
        with self.assertRaises(iree_dbg.Error):
            iree_dbg.open("missing.vmfb")
        with self.assertRaises(iree_dbg.Error):
            iree_dbg.open(b"no module")

    @unittest.skipUnless(sys.platform == "linux" and platform.machine() == "x86_64", "no sandbox")
    def test_machine_code_in_a_sandbox_can_only_compute(self) -> None:
        source = MODELS / "squares.mlir"
        source.write_text(
            "func.func @squares(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
            "  %y = arith.mulf %x, %x : tensor<8xf32>\n"
            "  return %y : tensor<8xf32>\n}\n"
        )
        x = np.arange(8, dtype=np.float32)
        good = MODELS / "squares.vmfb"
        command = [os.environ["IREE_DBG"], "compile", source.name, "-o", good.name, "--", *CPU]
        subprocess.run(command, check=True, cwd=MODELS, stdout=subprocess.DEVNULL)
        with iree_dbg.open(good, sandbox=True) as program:
            np.testing.assert_array_equal(program.squares(x), x * x)
            seen = []
            with program.on_dispatch(lambda it: seen.append(np.array(it.outputs["y"]))):
                program.squares(x)
            np.testing.assert_array_equal(seen, [x * x])
        bad = MODELS / "socket.vmfb"
        bad.write_bytes(with_code(good.read_bytes(), SOCKET))
        with iree_dbg.open(bad, sandbox=True) as program:
            for _ in range(2):
                with self.assertRaisesRegex(iree_dbg.Error, r"system call 41 \(socket\)"):
                    program.squares(x)
        with iree_dbg.open(bad) as program:
            program.squares(x)
        with self.assertRaisesRegex(iree_dbg.Error, "--no-native refuses"):
            iree_dbg.open(bad, native=False)

    def test_limits(self) -> None:
        program = open_loop(max_steps=1000)
        self.assertEqual(program.spin(100), 100)
        with self.assertRaises(MemoryError):
            program.spin(10**6)
        self.assertEqual(program.spin(100), 100)
        with self.assertRaises(iree_dbg.Error):
            open_loop(max_time=0.05).spin(10**12)

    def test_a_closed_program(self) -> None:
        with open_loop() as program:
            self.assertEqual(program.main(4, 2), 2)
        with self.assertRaisesRegex(iree_dbg.Error, "closed"):
            program.main(4, 2)


class Imports(unittest.TestCase):
    def test_functions_that_nothing_imports(self) -> None:
        imports = {"host.twice": lambda n: n, "host.thrice": lambda n: n}
        with self.assertRaisesRegex(iree_dbg.Error, '"host.thrice"; it imports host.twice'):
            iree_dbg.open(debuggable("loop"), imports=imports)

    def test_functions_are_called_and_call(self) -> None:
        depth = []

        def twice(n: int) -> int:
            depth.append(n)
            return program.twice(n - 1) + 2 if n > 1 else 2

        program = iree_dbg.open(debuggable("loop"), imports={"host.twice": twice})
        self.assertEqual(program.twice(10), 20)
        self.assertEqual(depth, list(range(10, 0, -1)))

    def test_exceptions_pass_through(self) -> None:
        raised = KeyError("mine")

        def fails(n: int) -> int:
            raise raised

        program = iree_dbg.open(debuggable("loop"), imports={"host.twice": fails})
        self.assertIs(failure(lambda: program.twice(1)), raised)
        names = [entry.name for entry in traceback.extract_tb(raised.__traceback__)]
        self.assertEqual((names[0], names[-1]), ("failure", "fails"))
        self.assertEqual(program.main(8, 2), 4)

    def test_a_program_fails_in_a_function_that_it_calls(self) -> None:
        def divides(n: int) -> int:
            return program.main(n, 0)

        program = iree_dbg.open(debuggable("loop"), imports={"host.twice": divides})
        with self.assertRaisesRegex(ValueError, "division by zero"):
            program.twice(1)

    def test_results_that_do_not_fit(self) -> None:
        program = iree_dbg.open(debuggable("loop"), imports={"host.twice": lambda n: "text"})
        with self.assertRaisesRegex(TypeError, "expected i32"):
            program.twice(1)

    def test_endless_nesting_ends(self) -> None:
        def again(n: int) -> int:
            return program.twice(n)

        program = iree_dbg.open(debuggable("loop"), imports={"host.twice": again})
        with self.assertRaisesRegex(iree_dbg.Error, "levels deep"):
            program.twice(1)

    def test_tensors_cross(self) -> None:
        source = MODELS / "outside.mlir"
        source.write_text(
            "func.func private @host.f(tensor<4xf32>) -> tensor<4xf32>\n"
            "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
            "  %0 = arith.addf %x, %x : tensor<4xf32>\n"
            "  %1 = call @host.f(%0) : (tensor<4xf32>) -> tensor<4xf32>\n"
            "  %2 = arith.addf %1, %x : tensor<4xf32>\n"
            "  return %2 : tensor<4xf32>\n"
            "}\n"
        )
        program = iree_dbg.open(compiled(source, "outside"), imports={"host.f": lambda x: x + 1})
        self.assertEqual(program.main([1, 2, 3, 4]).tolist(), [4, 7, 10, 13])


class Threads(unittest.TestCase):
    def test_ctrl_c(self) -> None:
        program = open_loop()
        for _ in range(2):
            with self.assertRaises(KeyboardInterrupt), interrupted(0.2):
                program.spin(10**12)
        self.assertEqual(program.spin(10), 10)

    def test_ctrl_c_pauses_a_walk(self) -> None:
        text = (HERE / "loop.mlir").read_text()
        (MODELS / "spin.mlir").write_text(text[text.index("func.func @spin") : text.index("func.func @twice")])
        command = [os.environ["IREE_DBG"], "compile", "spin.mlir", "-o", "spin.vmfb"]
        subprocess.run(command, check=True, cwd=MODELS, stdout=subprocess.DEVNULL)
        program = iree_dbg.open(MODELS / "spin.vmfb")
        with program.spin.walk(10**12) as walk:
            with self.assertRaises(KeyboardInterrupt), interrupted(0.5):
                walk.run()
            self.assertEqual(walk.kind, "pause")
            after = walk.locals["i"]
            self.assertGreater(after, 0)
            walk.step_back()
            self.assertLessEqual(walk.locals["i"], after)

    def test_processes(self) -> None:
        program = open_loop()
        self.assertEqual(program.main(6, 2), 3)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            said = []
            signal.alarm(20)
            for call in (lambda: program.main(6, 2), program.tensors, lambda: open_loop().main(8, 2)):
                try:
                    said.append(str(call()))
                except iree_dbg.Error as error:
                    said.append(str(error))
            program.close()
            os.write(writing, "\n".join(said).encode())
            os._exit(0)
        os.close(writing)
        with open(reading, encoding="utf-8") as pipe:
            said = pipe.read().splitlines()
        os.waitpid(child, 0)
        self.assertEqual([line.endswith("open it again") for line in said], [True, True, False])
        self.assertEqual(said[2], "4")
        self.assertEqual(program.main(6, 2), 3)
        for how in pickle.dumps, copy.copy, copy.deepcopy:
            with self.assertRaisesRegex(TypeError, "cannot be pickled or copied"):
                how(program)

    def test_eight_threads_and_ten_thousand_calls(self) -> None:
        program = iree_dbg.open(compiled(HERE / "types.mlir", "types"))
        x = np.arange(1024, dtype=np.int32).reshape(32, 32)
        wrong = []

        def calls(count: int) -> None:
            for _ in range(count):
                if not np.array_equal(program.wide(x), 2 * x):
                    wrong.append(1)

        def all_threads(count: int) -> int:
            threads = [threading.Thread(target=calls, args=(count,)) for _ in range(8)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
            gc.collect()
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        before = all_threads(250)
        after = all_threads(1000)
        self.assertEqual(wrong, [])
        # A leak of the 4 KiB of each result would be 31 MiB.
        self.assertLess(after - before, 8 << 10, "KiB")

    def test_another_thread_waits_for_its_turn(self) -> None:
        program = open_loop()
        results = []
        thread = threading.Thread(target=lambda: results.append(program.spin(200_000)))
        thread.start()
        results.append(program.main(6, 2))
        thread.join()
        self.assertEqual(sorted(results), [3, 200_000])

    def test_threads_whose_calls_are_short_long_and_call_python(self) -> None:
        # A long call is handed to the engine's thread, whatever the others do meanwhile.
        program = open_loop()
        wrong = []

        def calls(thread: int) -> None:
            for round in range(12):
                turns = 20_000_000 if (thread + round) % 6 == 0 else 10 * thread + round
                told = [program.spin(turns), program.twice(round), program.main(6, 2)]
                if told != [turns, 2 * round, 3]:
                    wrong.append(told)
                if round % 4 == thread:
                    self.assertFalse(program._served())

        threads = [threading.Thread(target=calls, args=(it,)) for it in range(4)]
        [thread.start() for thread in threads]
        [thread.join(60) for thread in threads]
        self.assertFalse([thread for thread in threads if thread.is_alive()])
        self.assertEqual(wrong, [])


class Stops(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.program = iree_dbg.open(debuggable("model"))
        cls.x = np.array([1, 2, 3, 4], dtype=np.float32)

    def test_a_breakpoint_shows_values(self) -> None:
        seen = []

        def look(stop: iree_dbg.Stop) -> None:
            self.assertEqual(stop.evaluate("max(%x)"), 4)
            seen.append((stop.frame.line, stop.locals))

        with self.program.breakpoint("model.mlir", 5, look) as point:
            self.assertTrue(point.verified, point.message)
            self.program.main(self.x, 0.1)
        self.program.main(self.x, 0.1)
        ((line, values),) = seen
        self.assertEqual(line, 5)
        np.testing.assert_array_equal(values["x"], self.x)
        self.assertEqual(values["k"], np.float32(0.1))
        self.assertEqual(values["y"], "<not yet computed>")

    def test_breakpoints_of_all_programs(self) -> None:
        seen = []
        with iree_dbg.breakpoint("model.mlir", 5, lambda stop: seen.append(stop.program)):
            other = iree_dbg.open(debuggable("model"))
            self.program.main(self.x, 1)
            other.main(self.x, 1)
        other.main(self.x, 1)
        self.assertEqual(seen, [self.program, other])

    def test_a_condition(self) -> None:
        seen, program = [], open_loop()

        def look(stop: iree_dbg.Stop) -> None:
            seen.append(stop.locals["n"])

        with program.breakpoint("loop.mlir", 3, look, condition="%n == 8"):
            self.assertEqual([program.main(n, 2) for n in (6, 8, 10)], [3, 4, 5])
        self.assertEqual(seen, [8])
        # Of tensors, too.
        largest: list[float] = []

        def measure(stop: iree_dbg.Stop) -> None:
            largest.append(float(stop.locals["x"].max()))

        with self.program.breakpoint("model.mlir", 5, measure, condition="max(%x) > 5"):
            self.program.main(self.x, 1)
            self.program.main(self.x + 5, 1)
        self.assertEqual(largest, [float(self.x.max()) + 5])
        with self.assertRaisesRegex(iree_dbg.Error, "condition"):
            self.program.breakpoint("model.mlir", 5, condition="max(")

    def test_exceptions_of_callbacks_end_the_call(self) -> None:
        def fails(stop: object) -> None:
            raise LookupError("enough")

        with self.program.breakpoint("model.mlir", 5, fails):
            with self.assertRaisesRegex(LookupError, "enough"):
                self.program.main(self.x, 1)
        self.assertEqual(self.program.main(self.x, 1).tolist(), [1, 2, 3, 4])

    def test_dispatches(self) -> None:
        seen = []
        with self.program.on_dispatch(seen.append):
            self.program.main(self.x, 3)
        (dispatch,) = seen
        np.testing.assert_array_equal(dispatch.inputs["x"], self.x)
        np.testing.assert_array_equal(dispatch.outputs["y"], 3 * self.x)
        self.assertEqual(dispatch.inputs["k"], 3)
        self.assertIn("elementwise", dispatch.name)

    def test_tables(self) -> None:
        self.program.main(self.x, 2)
        rows = self.program.tensors()
        rows = rows.to_dict("records") if hasattr(rows, "to_dict") else rows
        self.assertEqual([row["names"] for row in rows], [["%y"]])
        self.assertEqual((rows[0]["min"], rows[0]["max"], rows[0]["line"]), (2, 8, 5))

    def test_hooks_read_tensors_and_replace_them(self) -> None:
        seen = []
        with self.program.hook("*", lambda name, array: seen.append((name, array.tolist()))):
            self.program.main(self.x, 3)
            self.program.main(self.x, 2)
        self.assertEqual(seen, [("y", [3, 6, 9, 12]), ("y", [2, 4, 6, 8])])
        special = np.array([np.nan, np.inf, -np.inf, -0.0], np.float32)
        with self.program.hook("y", lambda name, array: special) as hook:
            left = self.program.main(self.x, 3)
        np.testing.assert_array_equal(left.view(np.int32), special.view(np.int32))
        self.assertEqual(hook.count, 1)
        # What is given is converted as arguments are.
        with self.program.hook("y", lambda name, array: [1, 2, 3, 4]):
            self.assertEqual(self.program.main(self.x, 3).tolist(), [1, 2, 3, 4])
        for wrong, says in ((np.zeros(3), r"y is 4xf32, .* \(3,\)"), (["a"] * 4, "expected 4xf32")):
            with self.program.hook("y", lambda name, array: wrong):
                with self.assertRaisesRegex((ValueError, TypeError), says):
                    self.program.main(self.x, 3)
        self.assertEqual(self.program.main(self.x, 1).tolist(), [1, 2, 3, 4])
        with self.assertWarnsRegex(UserWarning, "hook 'z' has met no tensor.* they leave y"):
            with self.program.hook("z", print):
                self.program.main(self.x, 3)

    def test_values_are_set_at_a_stop(self) -> None:
        def change(stop: iree_dbg.Stop) -> None:
            stop.set("x[1]", -2)
            stop.set("x[2]", "x[0] * 100")

        def whole(stop: iree_dbg.Stop) -> None:
            stop.set("x", np.arange(4))

        for changes, expected in ((change, [1, -2, 100, 4]), (whole, [0, 1, 2, 3])):
            # The program may read the caller's memory: it gets its own.
            with self.program.breakpoint("model.mlir", 5, changes):
                self.assertEqual(self.program.main(self.x.copy(), 1).tolist(), expected)
        with self.program.breakpoint("model.mlir", 5, lambda stop: stop.set("nothing", 1)):
            with self.assertRaisesRegex(iree_dbg.Error, "nothing"):
                self.program.main(self.x, 1)

    def test_results_are_left_in_arrays(self) -> None:
        left = np.zeros(4, np.float32)
        self.assertIs(self.program.main(self.x, 2, out=left), left)
        self.assertEqual(left.tolist(), [2, 4, 6, 8])
        with self.assertRaisesRegex(ValueError, r"out\[0\]: expected float32 \[4\], got float64 \[4\]"):
            self.program.main(self.x, 2, out=np.zeros(4))
        with self.assertRaisesRegex(ValueError, "1 results are left in as many arrays, not 2"):
            self.program.main(self.x, 2, out=(left, left))

    def test_a_stop_is_a_page(self) -> None:
        pages = []
        x = np.array([1, np.nan, np.inf, -4], dtype=np.float32)
        with self.program.breakpoint("model.mlir", 5, lambda stop: pages.append(stop._repr_html_())):
            self.program.main(x, 0.5)
        self.assertIn("<td>x</td><td>float32 4, -4 to 1, mean -1.5, 1 NaN, 1 infinite</td>", pages[0])
        data = re.findall(r'src="data:image/png;base64,([^"]+)"', pages[0])[0]
        head, *rest = base64.b64decode(data).split(b"IDAT")
        self.assertEqual(head[16:24], (4).to_bytes(4, "big") + (1).to_bytes(4, "big"))
        pixels = zlib.decompressobj().decompress(rest[0])
        # A filter, then the least red, NaN, infinity, and the deepest blue.
        self.assertEqual(list(pixels), [0, 255, 191, 191, 255, 0, 255, 0, 0, 0, 0, 0, 255])

    def test_commands(self) -> None:
        self.program.verify()
        self.assertIn("iree.abi", self.program.main.abi())
        with tempfile.TemporaryDirectory() as folder:
            made = self.program.main.record(Path(folder, "call.run"), self.x, 2)
            self.assertGreater(Path(made).stat().st_size, 100)
            shutil.copy(debuggable("model"), Path(folder, "same.vmfb"))
            found = self.program.main.diff(Path(folder, "same.vmfb"), self.x, 2)
        self.assertEqual((found.first_bad, found.told["verdict"]), (None, "equal"))

    def test_a_walk_goes_forward_and_back(self) -> None:
        with self.program.main.walk(self.x, 3) as walk:
            self.assertEqual((walk.kind, walk.frame.line, walk.results), ("entry", 3, None))
            walk.break_on_dispatch()
            walk.run()
            self.assertEqual(walk.evaluate("%y").tolist(), [3, 6, 9, 12])
            self.assertIn("float32 4, 3 to 12, mean 7.5", walk._repr_html_())
            # Calls and other walks have programs of their own.
            self.assertEqual(self.program.main(self.x, 2).tolist(), [2, 4, 6, 8])
            with self.program.main.walk(self.x, 2) as other:
                self.assertEqual(other.run().results.tolist(), [2, 4, 6, 8])
            walk.set("%y[1]", -1)
            self.assertEqual(walk.run().results.tolist(), [3, -1, 9, 12])
            # The change has begun a line of time; before it, the walk is in the first one again.
            self.assertEqual(walk.to_start().run().run().results.tolist(), [3, 6, 9, 12])
        with self.program.main.walk(self.x, 3) as walk:
            walk.break_on_dispatch()
            self.assertEqual(walk.run().run().kind, "over")
            self.assertIn("was written by", walk.reverse_run().who_wrote("%y[0]").reason)
            self.assertEqual(walk.locals["y"], "<not yet computed>")
            self.assertEqual(walk.history("%x")[0]["value"], "[1, 2, 3, 4]")
            self.assertEqual(walk.to_start().kind, "begin")
            with self.assertRaisesRegex(iree_dbg.Error, "line 900 is in no function"):
                walk.break_at("model.mlir:900")
            with self.assertRaisesRegex(iree_dbg.Error, "no_such"):
                walk.evaluate("%no_such")
            with self.assertRaisesRegex(iree_dbg.Error, "frame 9 is not on the stack"):
                walk.who_wrote("%y", frame=9)
            child = os.fork()
            if child == 0:
                # No more of this test is for the child.
                with contextlib.suppress(iree_dbg.Error):
                    walk.next()
                    os._exit(1)
                os._exit(0)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        with self.assertRaisesRegex(iree_dbg.Error, "the walk is closed"):
            walk.next()

    def test_calls_from_a_stop(self) -> None:
        seen = []

        def calls(stop: iree_dbg.Stop) -> None:
            if not seen:
                seen.append(None)
                seen.append(self.program.main(self.x, 7).tolist())

        with self.program.breakpoint("model.mlir", 5, calls):
            self.assertEqual(self.program.main(self.x, 1).tolist(), [1, 2, 3, 4])
        self.assertEqual(seen[1], [7, 14, 21, 28])


class Editors(unittest.TestCase):
    """An editor attaches to this process."""

    def test_an_editor_stops_the_program_and_leaves(self) -> None:
        program = iree_dbg.open(debuggable("model"))
        x = np.array([1, 2, 3, 4], dtype=np.float32)
        source = {"path": str(MODELS / "model.mlir")}
        seen, own = [], []

        def edits(session: iree_dbg.Session, idle: threading.Event, told: threading.Event) -> None:
            client = Client(session.host, session.port, session.token)
            client.request("setBreakpoints", source=source, breakpoints=[{"line": 5}])
            client.request("configurationDone")
            seen.append(client.event("stopped")["reason"])
            frames = client.request("stackTrace", threadId=1)["stackFrames"]
            seen.append((frames[0]["line"], frames[0]["source"]["path"]))
            frame = frames[0]["id"]
            value = client.request("evaluate", expression="max(%x)", frameId=frame)
            seen.append(value["result"])
            client.request("continue", threadId=1)
            # Nothing runs now; breakpoints can be changed all the same.
            idle.wait(30)
            client.request("setBreakpoints", source=source, breakpoints=[])
            told.set()
            seen.append(client.event("terminated"))
            client.close()

        with program.breakpoint("model.mlir", 5, own.append):
            with program.debug(quiet=True) as session:
                idle, told = threading.Event(), threading.Event()
                editor = threading.Thread(target=edits, args=(session, idle, told))
                editor.start()
                self.assertEqual(program.main(x, 2).tolist(), [2, 4, 6, 8])
                idle.set()
                self.assertTrue(told.wait(30))
                self.assertEqual(program.main(x, 3).tolist(), [3, 6, 9, 12])
            editor.join(30)
            self.assertEqual(program.main(x, 4).tolist(), [4, 8, 12, 16])
        self.assertEqual(seen[0], "breakpoint")
        self.assertEqual(seen[1], (5, source["path"]))
        self.assertEqual(seen[2:], ["4", {}])
        self.assertEqual(len(own), 3)
        # The port is free again.
        with program.debug(port=session.port, wait=False, quiet=True):
            self.assertEqual(program.main(x, 5).tolist(), [5, 10, 15, 20])

    def test_an_editor_sees_a_failure(self) -> None:
        program = open_loop()
        seen = []

        def edits(session: iree_dbg.Session) -> None:
            client = Client(session.host, session.port, session.token)
            client.request("configurationDone")
            stopped = client.event("stopped")
            seen.append((stopped["reason"], stopped.get("text")))
            frames = client.request("stackTrace", threadId=1)["stackFrames"]
            seen.append([frame["line"] for frame in frames])
            client.request("continue", threadId=1)
            client.request("disconnect")
            client.close()

        with program.debug(quiet=True) as session:
            editor = threading.Thread(target=edits, args=(session,))
            editor.start()
            with self.assertRaisesRegex(ValueError, "division by zero"):
                program.main(1, 0)
            editor.join(30)
            self.assertEqual(program.main(6, 2), 3)
        self.assertEqual(seen[0][0], "exception")
        self.assertEqual(seen[1], [3, 7])

    def test_an_editor_goes_back_over_functions_of_python(self) -> None:
        calls = []

        def count(n: int) -> int:
            calls.append(n)
            return n + 10 * len(calls)

        def shifted(y: np.ndarray) -> np.ndarray:
            calls.append(y.tolist())
            return y + np.float32(len(calls))

        imports = {"host.count": count, "host.shifted": shifted}
        program = iree_dbg.open(debuggable("recorded"), imports=imports)
        source = {"path": str(MODELS / "recorded.mlir")}
        x = np.array([1, 2, 3, 4], dtype=np.float32)
        walks, ends = [], []

        def edits(session: iree_dbg.Session) -> None:
            client = Client(session.host, session.port, session.token)
            client.request("setBreakpoints", source=source, breakpoints=[{"line": 4}])
            client.request("configurationDone")

            def stop() -> tuple:
                reason = client.event("stopped")["reason"]
                frames = client.request("stackTrace", threadId=1)["stackFrames"]
                return reason, frames[-1]["line"], len(calls)

            def step(how: str) -> tuple:
                client.request(how, threadId=1)
                return stop()[1:]

            for _ in range(2):
                stop()
                if not walks:
                    client.request("evaluate", expression="record", context="repl")
                forward = [step("next") for _ in range(4)]
                back = [step("stepBack") for _ in range(4)]
                again = [step("next") for _ in range(4)]
                walks.append((forward, back, again))
                step("stepBack")
                client.request("continue", threadId=1)
            # It has failed: back, forward once more, and back to correct the reason.
            ends.append(stop())
            ends.append(step("stepBack"))
            client.request("continue", threadId=1)
            ends.append(stop())
            step("stepBack")
            frame = client.request("stackTrace", threadId=1)["stackFrames"][-1]["id"]
            correction = {"expression": "%n", "value": "3", "frameId": frame}
            client.request("setExpression", **correction)
            client.request("continue", threadId=1)
            client.event("terminated")
            client.close()

        with program.debug(quiet=True) as session:
            editor = threading.Thread(target=edits, args=(session,))
            editor.start()
            for n, divisor in (2, 2), (0, 3):
                y, c = program.main(x, n)
                # The first call of a function saw 0 calls before it.
                self.assertEqual((y.tolist(), c), ((3 * x + 3).tolist(), (n + 30) // divisor))
                self.assertEqual(calls, [n, n + 10, (2 * x).tolist()])
                calls.clear()
        editor.join(30)
        lines = [5, 6, 7, 8]
        for forward, back, again in walks:
            self.assertEqual([line for line, _ in forward], lines)
            # Nothing more is called.
            self.assertEqual(back + again, [(line, 3) for line in [7, 6, 5, 4, *lines]])
        self.assertEqual(ends, [("exception", 9, 3), (8, 3), ("exception", 9, 3)])

    def test_going_back_passes_breakpoints_of_python(self) -> None:
        program = open_loop()
        source = {"path": str(MODELS / "loop.mlir")}
        own, seen = [], []

        def edits(session: iree_dbg.Session) -> None:
            client = Client(session.host, session.port, session.token)
            client.request("setBreakpoints", source=source, breakpoints=[{"line": 7}])
            client.request("configurationDone")
            client.event("stopped")
            client.request("evaluate", expression="record", context="repl")
            breakpoints = [{"line": 7}, {"line": 8}]
            client.request("setBreakpoints", source=source, breakpoints=breakpoints)
            for how in "continue", "reverseContinue", "continue", "continue":
                client.request(how, threadId=1)
                if how == "continue" and len(seen) == 3:
                    break
                client.event("stopped")
                frames = client.request("stackTrace", threadId=1)["stackFrames"]
                seen.append((frames[0]["line"], len(own)))
            client.event("terminated")
            client.close()

        with program.breakpoint("loop.mlir", 3, own.append):
            with program.debug(quiet=True) as session:
                editor = threading.Thread(target=edits, args=(session,))
                editor.start()
                self.assertEqual(program.main(6, 2), 3)
        editor.join(30)
        # On the way back, the function is not called; when the program comes there again, it is.
        self.assertEqual(seen, [(8, 1), (7, 1), (8, 2)])

    def test_going_back_while_python_runs(self) -> None:
        """A program does not go back while Python code of it runs, nor to before a call of
        Python's that has called it."""
        inside, leave, calls = threading.Event(), threading.Event(), []

        def again(n: int) -> int:
            calls.append(n)
            inside.set()
            leave.wait(30)
            return 2 * program.main(n, 1)

        program = iree_dbg.open(debuggable("loop"), imports={"host.twice": again})
        source = {"path": str(MODELS / "loop.mlir")}
        seen = []

        def edits(session: iree_dbg.Session) -> None:
            client = Client(session.host, session.port, session.token)
            client.request("setBreakpoints", source=source, breakpoints=[{"line": 24}])
            client.request("configurationDone")
            client.event("stopped")
            client.request("evaluate", expression="record", context="repl")
            client.request("next", threadId=1)
            inside.wait(30)
            client.request("pause", threadId=1)
            client.event("stopped")
            client.request("stepBack", threadId=1)
            seen.append(client.event("output")["output"])
            client.event("stopped")
            client.request("next", threadId=1)
            leave.set()
            for how in "stepBack", "continue":
                client.event("stopped")
                frames = client.request("stackTrace", threadId=1)["stackFrames"]
                seen.append(frames[0]["line"])
                client.request(how, threadId=1)
            client.event("terminated")
            client.close()

        with program.debug(quiet=True) as session:
            editor = threading.Thread(target=edits, args=(session,))
            editor.start()
            self.assertEqual(program.twice(4), 8)
        editor.join(30)
        self.assertIn("waits for @host.twice, which runs outside", seen[0])
        self.assertEqual((seen[1:], calls), ([25, 25], [4]))

    def paused_in_a_call(self, program: iree_dbg.Program, session: iree_dbg.Session) -> Client:
        """An editor that has stopped the call which runs."""
        client = Client(session.host, session.port, session.token)
        client.request("configurationDone")
        time.sleep(0.3)
        client.request("pause", threadId=1)
        self.assertEqual(client.event("stopped")["reason"], "pause")
        return client

    def test_ctrl_c_while_an_editor_has_stopped_the_call(self) -> None:
        program, clients = open_loop(), []
        with program.debug(quiet=True, wait=False) as session:
            editor = threading.Timer(
                0.3, lambda: clients.append(self.paused_in_a_call(program, session))
            )
            editor.start()
            with self.assertRaises(KeyboardInterrupt), interrupted(3):
                program.spin(10**12)
            editor.join(30)
            self.assertEqual(program.main(6, 2), 3)
            self.assertTrue(clients[0].event("continued")["allThreadsContinued"])
        self.assertEqual(program.main(8, 2), 4)

    def test_what_is_closed_while_an_editor_has_stopped_the_call(self) -> None:
        program, ended = open_loop(), []
        for closes_all in False, True:
            session = program.debug(quiet=True, wait=False)

            def spins() -> None:
                try:
                    ended.append(program.spin(10**12 if closes_all else 2_000_000))
                except iree_dbg.Error as error:
                    ended.append(str(error))

            thread = threading.Thread(target=spins)
            thread.start()
            client = self.paused_in_a_call(program, session)
            begun = time.monotonic()
            (program if closes_all else session).close()
            thread.join(60)
            self.assertFalse(thread.is_alive())
            self.assertLess(time.monotonic() - begun, 60 if not closes_all else 5)
            if not closes_all:
                client.event("terminated")
            client.close()
        self.assertEqual(ended[0], 2_000_000)
        self.assertIn("the program is closed", ended[1])

    def test_ctrl_c_while_no_editor_comes(self) -> None:
        program = open_loop()
        with program.debug(quiet=True):
            with self.assertRaises(KeyboardInterrupt), interrupted(0.2):
                program.main(6, 2)
        self.assertEqual(program.main(6, 2), 3)


class Pages(unittest.TestCase):
    def test_the_examples_of_the_page(self) -> None:
        debuggable("model")
        open_loop()
        before = os.getcwd()
        os.chdir(MODELS)
        try:
            failed, tried = doctest.testfile(
                str(PACKAGE / "README.md"),
                module_relative=False,
                globs={"os": os},
                optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL,
            )
        finally:
            os.chdir(before)
        self.assertGreater(tried, 10)
        self.assertEqual(failed, 0)

    def test_a_notebook(self) -> None:
        import nbclient
        import nbformat

        debuggable("loop")
        cells = [
            f"import sys; sys.path.insert(0, {str(PACKAGE)!r})\nimport iree_dbg",
            "%load_ext iree_dbg\n"
            "program = iree_dbg.open('loop.vmfb', imports={'host.twice': lambda n: 2 * n})\n"
            "program",
            "print(program.main(7, 2))",
            "with iree_dbg.breakpoint('loop.mlir', 3): program.main(8, 4)",
            "session = %iree_debug program --no-wait\nprint(session.port > 0, program.main(6, 2))\n"
            "%iree_debug program stop",
            "program.main(1, 0)",
        ]
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(it) for it in cells])
        client = nbclient.NotebookClient(
            notebook, timeout=60, resources={"metadata": {"path": str(MODELS)}}
        )
        with self.assertRaises(nbclient.exceptions.CellExecutionError) as caught:
            client.execute()
        self.assertIn("loop.mlir", str(caught.exception))
        self.assertIn("%q = arith.divsi %n, %d : i32", str(caught.exception))

        def text(number: int) -> str:
            return "".join(it.get("text", "") for it in notebook.cells[number].outputs)

        def page(number: int) -> str:
            shown = (it.get("data", {}) for it in notebook.cells[number].outputs)
            return "".join(it.get("text/html", "") for it in shown)

        self.assertEqual(text(2), "3\n")
        self.assertIn("stopped at loop.mlir:3", text(3))
        self.assertIn("<td>n</td><td>8</td>", page(3))
        self.assertIn("True 3\n", text(4))


if __name__ == "__main__":
    # A test that hangs says where.
    faulthandler.dump_traceback_later(300, exit=True)
    try:
        result = unittest.main(verbosity=1, exit=False).result
        failed = len(result.failures) + len(result.errors)
        print(f"{max(result.testsRun - failed, 0)} passed, {failed} failed")
        sys.exit(0 if result.wasSuccessful() else 1)
    finally:
        linecache.clearcache()
        shutil.rmtree(MODELS, ignore_errors=True)
