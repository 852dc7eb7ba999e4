"""Programs of the VM alone: the cost of an instruction, with and without armed breakpoints."""

import sys

from tools import (
    HERE, comments, compiled, geometric_mean, in_turns, median, must_agree, our_ns, ratio, ratio_text,
    reference_ns, table,
)

SOURCES = {path.stem: path for path in sorted((HERE / "programs").iterdir())}


class Program:
    """A source in programs/, its modules, and the measurements of its rounds."""

    def __init__(self, name, options):
        source = SOURCES[name]
        self.name = name
        self.seconds = options.seconds
        text = source.read_text()
        inputs = comments(text, "INPUT") or sys.exit(f"error: {source} has no `// INPUT: ` comment")
        self.input = inputs[0]
        self.module = compiled(source.name, text)
        self.padded = None
        self.breakpoints = options.breakpoints
        cold = comments(text, "COLD", separator=" ")
        if cold and self.breakpoints:
            add = f"{cold[0]} = vm.add.i32 {cold[0]}, {cold[0]}\n"
            padded = text.replace(f"// COLD {cold[0]}\n", add * self.breakpoints)
            self.padded = compiled(f"padded-{source.name}", padded)
        self.rounds = []

    def call(self, module):
        return [f"--module={module}", "--function=main", f"--input={self.input}"]

    def check(self, binary):
        must_agree(self.name, binary, self.call(self.module))

    def measure(self, binary, is_swapped):
        timings = {
            "iree": lambda: reference_ns(self.call(self.module), self.seconds),
            "ours": lambda: our_ns(binary, self.call(self.module), self.seconds),
        }
        if self.padded:
            armed = [*self.call(self.padded), f"--breakpoints={self.breakpoints}"]
            timings["idle"] = lambda: our_ns(binary, self.call(self.padded), self.seconds)
            timings["armed"] = lambda: our_ns(binary, armed, self.seconds)
        self.rounds.append(in_turns(timings, is_swapped))

    def ratios(self):
        return ratio(self.rounds, "ours", "iree"), ratio(self.rounds, "armed", "idle")


def report(programs):
    titles = ["program", "IREE, ns a call", "iree-dbg, ns a call", "ratio", "with armed breakpoints"]
    rows = [
        [
            program.name,
            f"{median(program.rounds, 'iree'):,.0f}",
            f"{median(program.rounds, 'ours'):,.0f}",
            *map(ratio_text, program.ratios()),
        ]
        for program in programs
    ]
    means = map(geometric_mean, zip(*(program.ratios() for program in programs)))
    return table(titles, [*rows, ["geometric mean", "", "", *map(ratio_text, means)]])
