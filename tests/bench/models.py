"""Models on a device: the latency of a call, of one in a sandbox, and of a whole process that makes one."""

import subprocess
import time

from tools import (
    HERE, comments, compiled, in_turns, iree, median, must_agree, our_ns, our_wall_ns, ratio, ratio_text, reference_ns,
    run, table,
)

SOURCES = {path.stem: path for path in sorted((HERE / "models").iterdir())}
LOCAL = ["--iree-hal-target-device=local"]
# The flags of the compiler and the device of each.
BACKENDS = {
    "vmvx": ([*LOCAL, "--iree-hal-local-target-device-backends=vmvx"], "local-sync"),
    "llvm-cpu": (
        [*LOCAL, "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host"],
        "local-sync",
    ),
    "vulkan": (["--iree-hal-target-device=vulkan"], "vulkan"),
}


def backends():
    """Those of this machine: a device of Vulkan needs a driver."""
    has_vulkan = run([iree("iree-run-module"), "--list_devices=vulkan"]).strip()
    return [name for name in BACKENDS if name != "vulkan" or has_vulkan]


class Model:
    """A source in models/ for one back end, and the measurements of its rounds."""

    def __init__(self, name, backend, options):
        self.name = f"{name}, {backend}"
        self.seconds = options.seconds
        # Bytecode needs no sandbox.
        self.has_machine_code = backend == "llvm-cpu"
        text = SOURCES[name].read_text()
        flags, device = BACKENDS[backend]
        module = compiled(f"{name}-{backend}.mlir", text, flags)
        inputs = [f"--input={value}" for value in comments(text, "INPUT")]
        self.call = [f"--module={module}", "--function=main", f"--device={device}", *inputs]
        self.rounds = []

    def check(self, binary):
        must_agree(self.name, binary, self.call)

    def measure(self, binary, is_swapped):
        timings = {
            "iree": lambda: reference_ns(self.call, self.seconds),
            "ours": lambda: our_ns(binary, self.call, self.seconds),
            "iree process": lambda: wall_ms([iree("iree-run-module"), *self.call]),
            "our process": lambda: wall_ms([binary, "run", *self.call]),
        }
        if self.has_machine_code:
            for place in ("off", "on"):
                call = [*self.call, f"--sandbox={place}"]
                timings[f"sandbox {place}"] = lambda call=call: our_wall_ns(binary, call, self.seconds)
        self.rounds.append(in_turns(timings, is_swapped))


def wall_ms(command):
    start = time.perf_counter()
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - start) * 1e3


def report(models):
    titles = [
        "model", "IREE, ns a call", "iree-dbg, ns a call", "ratio",
        "iree-run-module, ms", "iree-dbg run, ms", "ratio", "call in a sandbox, wall",
    ]
    rows = [
        [
            model.name,
            f"{median(model.rounds, 'iree'):,.0f}",
            f"{median(model.rounds, 'ours'):,.0f}",
            ratio_text(ratio(model.rounds, "ours", "iree")),
            f"{median(model.rounds, 'iree process'):.1f}",
            f"{median(model.rounds, 'our process'):.1f}",
            ratio_text(ratio(model.rounds, "our process", "iree process")),
            ratio_text(ratio(model.rounds, "sandbox on", "sandbox off")) if model.has_machine_code else "–",
        ]
        for model in models
    ]
    return table(titles, rows)
