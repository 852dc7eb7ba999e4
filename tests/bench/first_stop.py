"""Time and memory of the terminal debugger until its first stop, in small and large modules."""

import subprocess
import sys
import time

from tools import SCRATCH, compiled, median, table

SIZES = {"1 KiB": 1 << 10, "1 GiB": 1 << 30}

MODULE = """
vm.module @constants {{
  vm.rodata private @bytes dense<1> : vector<{size}xi8>
  vm.export @first
  vm.func @first() -> i32 {{
    %bytes = vm.const.ref.rodata @bytes : !vm.buffer
    %zero = vm.const.i64.zero
    %byte = vm.buffer.load.i8.u %bytes[%zero] : !vm.buffer -> i32
    vm.return %byte : i32
  }}
}}
"""
SCRIPT = "break first\nrun\nquit\n"


class Constants:
    """A module with this many bytes of constants, and the measurements of its rounds."""

    def __init__(self, name):
        self.name = name
        self.script = SCRATCH / "first_stop.script"
        self.module = SCRATCH / f"constants-{SIZES[name]}.vmfb"
        if not self.module.exists():
            text = MODULE.format(size=SIZES[name])
            compiled(f"{self.module.stem}.mlir", text, ["--compile-mode=vm"])
        self.script.write_text(SCRIPT)
        self.rounds = []

    def check(self, binary):
        printed = subprocess.run(self.command(binary), capture_output=True, text=True).stdout
        if "Breakpoint 1\n#0 first" not in printed:
            sys.exit(f"error: no first stop in {self.module}:\n{printed}")

    def command(self, binary):
        return [binary, "debug", "--batch", "-x", self.script, "--function=first", self.module]

    def measure(self, binary, _):
        # A process inherits the peak of its parent, so a small process starts it.
        note = SCRATCH / "peak"
        watched = ["/usr/bin/time", "--format=%M", f"--output={note}", *self.command(binary)]
        start = time.perf_counter()
        try:
            subprocess.run(watched, check=True, capture_output=True)
        except FileNotFoundError:
            sys.exit("error: time is not installed; run: apt-get install time")
        wall = time.perf_counter() - start
        self.rounds.append({"wall": wall, "peak": int(note.read_text()) / 1024})


def report(modules):
    rows = [
        [module.name, f"{median(module.rounds, 'wall'):.3f}", f"{median(module.rounds, 'peak'):.1f}"]
        for module in modules
    ]
    return table(["constants", "session to the first stop and out, s", "peak memory, MiB"], rows)
