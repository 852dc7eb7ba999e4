"""Functions of a .vmfb as callables of Python, through TVM FFI: values, memory, errors.

usage: packed.py LIBRARY

Every function named `test_…` is a case, run on a program of each back end. The last line is `N passed, N failed`.
"""

import gc
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import traceback

import numpy
import tvm_ffi

HERE = pathlib.Path(__file__).parent
# Machine code may load whole vectors, so only tensors with this alignment are shared with it.
ALIGNMENT = 64


def aligned(values, offset=0):
    """A vector of float32 that begins some bytes after a multiple of the alignment."""
    values = numpy.asarray(values, numpy.float32)
    memory = numpy.zeros(values.nbytes + ALIGNMENT + offset, numpy.uint8)
    start = -memory.ctypes.data % ALIGNMENT + offset
    found = memory[start:start + values.nbytes].view(numpy.float32)
    found[:] = values
    return found


def raises(kind, text, function, *arguments):
    """The error that a call must raise."""
    try:
        result = function(*arguments)
    except Exception as error:
        assert type(error) is kind, f"{type(error).__name__}: {error}"
        assert text in str(error), f"{error}: expected {text!r}"
        return error
    raise AssertionError(f"no error, but {result!r}")


def test_tensors(program):
    total = program("add")(numpy.arange(4, dtype=numpy.float32), aligned([1, 1, 1, 1]))
    assert isinstance(total, tvm_ffi.Tensor)
    assert numpy.from_dlpack(total).tolist() == [1, 2, 3, 4]


def test_tensor_objects_go_in_again(program):
    total = program("add")(aligned([1, 2, 3, 4]), aligned([1, 1, 1, 1]))
    again = program("add")(total, total)
    assert numpy.from_dlpack(again).tolist() == [4, 6, 8, 10]


def test_memory_is_shared(program):
    given = aligned([1, 2, 3])
    back = numpy.from_dlpack(program("same")(given))
    assert back.ctypes.data == given.ctypes.data
    given[0] = 7
    assert back.tolist() == [7, 2, 3]


def test_results_keep_memory_alive(program):
    back = numpy.from_dlpack(program("same")(aligned([5] * 1000)))
    gc.collect()
    aligned([9] * 1000)
    assert back.tolist() == [5] * 1000


def test_memory_that_cannot_be_shared_is_copied(program):
    given = numpy.arange(10, dtype=numpy.float32)[::3]
    back = numpy.from_dlpack(program("same")(given))
    assert back.tolist() == [0, 3, 6, 9]
    assert back.ctypes.data != given.ctypes.data
    odd = aligned([1, 2], offset=4)
    assert numpy.from_dlpack(program("same")(odd)).tolist() == [1, 2]


def test_empty_tensors(program):
    assert numpy.from_dlpack(program("same")(numpy.zeros(0, numpy.float32))).shape == (0,)


def test_small_elements(program):
    integers, truths = program("bytes")(numpy.array([-1, 2], numpy.int8), numpy.array([True, False]))
    assert numpy.from_dlpack(integers).tolist() == [-1, 2]
    assert numpy.from_dlpack(truths).tolist() == [True, False]
    assert numpy.from_dlpack(truths).dtype == bool


def test_scalars(program):
    values = program("scalars")(-3, 2**40, 1.5, -2.5, True)
    assert list(values) == [-3, 2**40, 1.5, -2.5, True]
    assert program("nothing")() is None


def test_structures(program):
    nested = program("nested")
    point = {"y": aligned([1, 2]), "x": 2.5}
    result = nested(point, [1.0, 4.0])
    assert result["product"] == 10
    assert result["point"]["x"] == 2.5
    assert numpy.from_dlpack(result["point"]["y"]).tolist() == [1, 2]
    raises(KeyError, 'nested args[0]["y"]: missing', nested, {"x": 1.0, "z": 1.0}, [1.0, 1.0])
    raises(ValueError, "nested args[0]: expected 2 keys, got 1", nested, {"x": 1.0}, [1.0, 1.0])
    raises(TypeError, 'nested args[0]["y"]: expected tensor<?xf32>', nested, {"x": 1.0, "y": 1.0}, [1.0, 1.0])
    raises(ValueError, "nested args[1]: expected 2 items, got 3", nested, point, [1.0] * 3)
    raises(TypeError, "nested args[1][1]: expected f32", nested, point, [1.0, "1"])


def test_structures_are_spread_over_raw_arguments(program):
    spread = program("spread")
    tensor, named = spread([3, None, 10], aligned([1, 2]))
    assert numpy.from_dlpack(tensor).tolist() == [1, 2]
    assert named["n"] == 7
    raises(ValueError, "spread args[0]: expected 3 items, got 2", spread, [3, 10], aligned([1]))
    raises(TypeError, "spread args[0][1]: expected None", spread, [3, 4, 10], aligned([1]))
    raises(TypeError, "spread args[0][0]: expected si32, got float", spread, [1.5, None, 10], aligned([1]))
    raises(TypeError, "takes 2 arguments, got 3", spread, 1, 2, 3)
    raises(ValueError, "`astray`: the attribute `sip` is malformed", program, "astray")


def test_arrays_of_references(program):
    grid = program("grid")
    rows = [[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10], [11, 12]]]
    assert [[list(pair) for pair in row] for row in grid(rows)] == rows
    raises(ValueError, "grid args[0]: expected arrays of [i32, i32], 2 deep, got the shape [1, 3]", grid, rows[:1])
    raises(ValueError, "grid args[0]: expected rows of one length", grid, [rows[0], rows[1][:2]])
    raises(TypeError, "grid args[0]: expected arrays of [i32, i32], 2 deep, got int", grid, 5)


def test_integers_fit_their_types(program):
    scalars = program("scalars")
    assert list(scalars(200, 1, 1.0, 1.0, True))[0] == -56, "200 is a byte, and i8 is shown as signed"
    raises(ValueError, "-129 does not fit i8", scalars, -129, 1, 1.0, 1.0, True)


def test_state_is_shared_within_a_program(program):
    first, second = program("next"), program("next")
    before = first()
    assert [second(), first()] == [before + 1, before + 2]


def test_types_are_checked(program):
    add, same = program("add"), program("same")
    four = aligned([1, 2, 3, 4])
    raises(TypeError, "takes 2 arguments, got 1", add, four)
    raises(ValueError, "add args[1]: expected tensor<4xf32>, got 3xf32", add, four, aligned([1, 2, 3]))
    raises(ValueError, "expected tensor<4xf32>, got 2x2xf32", add, four, four.reshape(2, 2))
    raises(TypeError, "expected tensor<4xf32>, got 4xf64", add, four, numpy.zeros(4))
    raises(TypeError, "same args[0]: expected tensor<?xf32>, got ffi.Array", same, [1.0])
    raises(TypeError, "same args[0]: expected tensor<?xf32>, got None", same, None)
    raises(TypeError, "same args[0]: expected tensor<?xf32>, got float", same, 1.0)
    raises(ValueError, "scalars args[0]: 300 does not fit i8", program("scalars"), 300, 1, 1.0, 1.0, True)
    raises(TypeError, "scalars args[1]: expected i64, got float", program("scalars"), 1, 1.5, 1.0, 1.0, True)


def test_errors_carry_frames(program):
    error = raises(ValueError, "integer division by zero", program("divide"), 1, 0)
    frames = traceback.extract_tb(error.__traceback__)
    assert any("divide" in frame.name for frame in frames), "".join(traceback.format_tb(error.__traceback__))
    assert program("divide")(7, 2) == 3


def test_unknown_functions(program):
    raises(AttributeError, "exports no `missing`; it exports add, same", program, "missing")


def test_functions_outlive_the_program(program):
    add = program("add")
    del program
    gc.collect()
    assert numpy.from_dlpack(add(aligned([1] * 4), aligned([2] * 4))).tolist() == [3] * 4


def test_calls_from_threads(program):
    add, results = program("add"), []

    def work(number):
        for _ in range(20):
            total = numpy.from_dlpack(add(aligned([number] * 4), aligned([1] * 4)))
            results.append(total.tolist() == [number + 1] * 4)

    threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 80


def test_memory_is_given_back(program):
    same = program("same")
    memory = aligned([1] * 16)
    back = [same(memory) for _ in range(10)]
    assert sys.getrefcount(memory) > sys.getrefcount(back)
    del back
    gc.collect()
    before = sys.getrefcount(memory)
    for _ in range(100):
        same(memory)
    gc.collect()
    assert sys.getrefcount(memory) == before


def test_results_are_left_in_arguments(program):
    doubled, x = program("doubled"), numpy.arange(1, 5, dtype=numpy.float32)
    for offset in 0, 4, 16, 32, 64:
        for step in 1, 2, -1, -3:
            memory = aligned([0] * 16, offset)
            left = memory[::step][:4]
            doubled(x, left)
            assert left.tolist() == [2, 4, 6, 8], (offset, step)
            assert memory.sum() == 20, "nothing else is written"
    for _ in range(20):
        left = numpy.zeros(100, numpy.float32)
        doubled(numpy.ones(100, numpy.float32), left)
        assert (left == 2).all()


def test_arguments_that_share_memory(program):
    for offset in 0, 4:
        same = aligned([1, 2, 3, 4], offset)
        program("doubled")(same, same)
        assert same.tolist() == [2, 4, 6, 8]
        for read, written in (slice(0, 4), slice(2, 6)), (slice(2, 6), slice(0, 4)):
            line = aligned(range(6), offset)
            expected = 2 * line[read]
            program("doubled")(line[read], line[written])
            assert line[written].tolist() == expected.tolist()
    spread = numpy.lib.stride_tricks.as_strided(numpy.zeros(4, numpy.float32), (4,), (0,))
    raises(ValueError, "several of its elements have the same memory", program("doubled"), aligned([1]), spread)
    # A tensor that is only read is never written, though another thread may change it meanwhile.
    odd = aligned([1, 2, 3, 4], offset=4)
    program("add")(odd, odd)
    assert odd.tolist() == [1, 2, 3, 4]


def test_ctrl_c_ends_a_call(program):
    def late(*_):
        raise TimeoutError("what Ctrl-C should have ended still runs")

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    alarm = signal.signal(signal.SIGALRM, late)
    try:
        for _ in range(2):
            signal.setitimer(signal.ITIMER_REAL, 20)
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                program("spin")(10**13)
            except KeyboardInterrupt:
                continue
            raise AssertionError("Ctrl-C was not heard")
        # Nor does a call hang that waits for one of another thread.
        heard = threading.Event()

        def occupy():
            while not heard.is_set():
                program("spin")(1_000_000)

        other = threading.Thread(target=occupy)
        other.start()
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            while True:
                program("spin")(10)
        except KeyboardInterrupt:
            pass
        finally:
            heard.set()
            other.join()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, alarm)
        signal.signal(signal.SIGINT, before)
    assert program("spin")(100) == 100


def library_is_described(library, path):
    assert library["exports"](path).split() == [
        "add", "same", "bytes", "scalars", "divide", "nothing", "next", "nested", "spread", "astray", "grid",
        "doubled", "spin"
    ]
    assert library["describe"](path, "divide") == "divide(input0: i32, input1: i32) -> (output0: i32)"
    assert library["load"](path, "divide")(9, 3) == 3
    # Metadata and documentation are functions too.
    for name in ["open", "load", "exports", "describe"]:
        schema = json.loads(json.loads(library[f"_metadata_{name}"]())["type_schema"])
        assert schema["type"] == "ffi.Function", schema
        assert ".vmfb" in library[f"_doc_{name}"]()
    raises(RuntimeError, "missing.vmfb", library["open"], "missing.vmfb")
    raises(TypeError, "argument 0 is missing: the path of a .vmfb", library["open"])
    raises(TypeError, "argument 0 is no string", library["open"], 5)
    raises(RuntimeError, "packed.py", library["open"], __file__)


def functions_of_python(library, path):
    calls = []

    def twice(number):
        calls.append(number)
        if number < 0:
            raise IndexError("negative")
        return number * 2

    def scale(tensor):
        return tvm_ffi.from_dlpack(numpy.from_dlpack(tensor) * 10)

    program = library["open"](path, {"host.twice": twice, "host.scale": scale})
    assert program("main")(5) == 20 and calls == [5, 10]
    assert numpy.from_dlpack(program("scale")(aligned([1, 2]))).tolist() == [10, 20]
    raises(IndexError, "negative", program("main"), -1)
    assert program("main")(1) == 4, "the program goes on after an error"
    # The program stands still meanwhile.
    again = library["open"](path, {"host.twice": lambda number: again("main")(number), "host.scale": scale})
    raises(RuntimeError, "cannot call the program again", again("main"), 1)
    wrong = library["open"](path, {"host.twice": lambda number: "two", "host.scale": scale})
    raises(TypeError, "results[0]: expected i64", wrong("main"), 1)
    raises(RuntimeError, "host", library["open"], path)
    raises(ValueError, "an import is named `module.function`, not `twice`", library["open"], path, {"twice": twice})
    raises(TypeError, "import host.twice: expected a function, got int", library["open"], path, {"host.twice": 5})
    raises(TypeError, "argument 1: expected the functions", library["open"], path, 5)
    raises(TypeError, "at most 2 arguments, got 4", library["open"], path, {}, 1, 2)


def compiled(source, backend, folder):
    module = str(pathlib.Path(folder) / f"{source.stem}-{backend}.vmfb")
    subprocess.run([
        pathlib.Path(sys.executable).parent / "iree-compile", source, "-o", module,
        "--iree-hal-target-device=local", f"--iree-hal-local-target-device-backends={backend}",
        "--iree-llvmcpu-target-cpu=generic",
    ], check=True)
    return module


def main(path):
    library = tvm_ffi.load_module(path)
    cases = [(name, case) for name, case in globals().items() if name.startswith("test_")]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for backend in ["vmvx", "llvm-cpu"]:
            module = compiled(HERE / "program.mlir", backend, folder)
            calling = compiled(HERE / "callables.mlir", backend, folder)
            bound = [(name, lambda case=case: case(library["open"](module))) for name, case in cases]
            bound.append(("library_is_described", lambda: library_is_described(library, module)))
            bound.append(("functions_of_python", lambda: functions_of_python(library, calling)))
            for name, case in bound:
                try:
                    case()
                    passed += 1
                except Exception:
                    failed += 1
                    print(f"FAILED {name} ({backend})")
                    traceback.print_exc()
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
