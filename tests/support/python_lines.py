"""What the debugger shows at the lines of a framework's Python, against the same Python run eagerly.

Used by `tests/jax` and `tests/torch`.
"""

import dataclasses
import json
import re
import subprocess
import sys

import numpy as np

# Eager sums have another order.
NEAR = dict(rtol=2e-4, atol=2e-5)
TOLERANCE = dict(NEAR, equal_nan=True)


def leaves(variables):
    """Variables and the parts of containers, with their names as Python writes them."""
    for name, value in variables.items():
        yield from parts(name, value)


def parts(name, value):
    """A value, or the parts of a container."""
    if isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from parts(f"{name}[{index}]", item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from parts(f"{name}[{key!r}]", item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from parts(f"{name}.{field.name}", getattr(value, field.name, None))
    elif hasattr(value, "named_parameters"):
        for of in (value.named_parameters, value.named_buffers):
            for path, item in of(remove_duplicate=False):
                yield f"{name}.{path}", item
    else:
        yield name, value


def eager(here, call, concrete):
    """The arrays of each frame of the file `here` each time it comes to a line, while `call` runs:
    `{((function, line), ...): [{name: array}, ...]}`. `concrete` gives the numbers of a value that
    is an array, else None."""
    seen = {}

    def line_chain(frame):
        """The functions and lines from a frame outwards, as far as they are the models'."""
        chain = []
        while frame is not None:
            if frame.f_code.co_filename == str(here):
                # A frame has the name of its function without those around it.
                name = frame.f_code.co_qualname.rpartition("<locals>.")[2]
                chain.append((name, frame.f_lineno))
            frame = frame.f_back
        return tuple(chain)

    def trace(frame, event, _):
        if frame.f_code.co_filename != str(here):
            return None
        if event == "line":
            found = ((name, concrete(value)) for name, value in leaves(frame.f_locals))
            arrays = {name: array for name, array in found if array is not None}
            seen.setdefault(line_chain(frame), []).append(arrays)
        return trace

    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(None)
    return seen


class Session:
    """A debugging session over `--json-lines`."""

    def __init__(self, program, module, inputs):
        values = [f"--input=@{path}" for path in inputs]
        command = [program, "debug", module, "--function=main", *values, "--json-lines"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, command):
        """The answer to a command, or where the program has stopped."""
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        kind = "stop" if command in ("start", "next") else "answer"
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if message["kind"] == kind:
                return message
            if message["kind"] == "answer" and not message["ok"]:
                raise SystemExit(f"{command}: {message['text']}")
        raise SystemExit(f"the session ended at {command}")

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def lines_match(chain, frames):
    """Whether functions and lines are those of the debugger's frames; a frame's name may go on with
    its layer, and the dispatch that runs there."""
    shown = [(re.split(r", | \(|\[", it["name"])[0], it["source"]["line"]) for it in frames]
    return list(chain) == shown


def is_same(shown, expected):
    """Whether two arrays have one shape and, but for the order of sums, the same numbers. Of large
    numbers that nearly cancel out, what is left has the rounding of the large ones, which depends
    on the machine."""
    if shown.shape != expected.shape:
        return False
    shown, expected = (it.astype(np.float64) if it.dtype.kind == "f" else it for it in (shown, expected))
    finite = np.abs(expected[np.isfinite(expected)]) if expected.dtype.kind == "f" else expected[:0]
    rounding = 1e-6 * finite.max(initial=0.0)
    return np.allclose(shown, expected, **{**TOLERANCE, "atol": TOLERANCE["atol"] + rounding})


class Walk:
    """What was found on a walk through a model: the variables that are right and those that have a
    reason instead, each with its line, and a sentence for each that is wrong."""

    def __init__(self):
        self.stops = 0
        self.right, self.reasons, self.wrong = set(), set(), set()
        # By functions and lines, the visit that was met last.
        self.met = {}
        # The innermost line of each dispatch.
        self.lines = set()

    def look(self, session, frame, chain, visits, folder):
        """Compares the variables of a frame with those that the eager run had at one of its visits:
        of one visit all have to be, and a visit is not before the last one that was met there."""
        line, shown = frame["source"]["line"], {}
        session.ask(f"frame {frame['number']}")
        for value in session.ask("locals").get("values", []):
            name = value["name"]
            if name.startswith("%"):
                continue
            if "absent" in value:
                self.reasons.add((line, name))
                continue
            if not any(name in visit for visit in visits) and not is_tensor(value):
                continue
            path = folder / "value.npy"
            saved = session.ask(f"""save -f {name if name.isidentifier() else f'%"{name}"'} {path}""")
            if saved.get("ok"):
                shown[name] = np.load(path)
            else:
                self.wrong.add(f"{line}: {name}: not saved: {saved.get('error')}")
        last = self.met.get(chain, 0)
        faults = [
            {name for name, array in shown.items() if name not in visit or not is_same(array, visit[name])}
            for visit in visits[last:]
        ]
        fewest = min(faults, key=len, default=set(shown))
        if fewest in faults:
            self.met[chain] = last + faults.index(fewest)
        self.right |= {(line, name) for name in shown if name not in fewest}
        for name in sorted(fewest):
            self.wrong.add(f"{line}: {name} is not what the eager run has in any of {len(visits)} visits")


def is_tensor(value):
    """Whether a value that is shown is a tensor; constants of Python are none."""
    return "tensor<" in value["type"] or re.fullmatch(r"(\d+x)*[bfisu]\w*\d", value["type"])


def step_through(program, module, inputs, here, expected, folder):
    """Steps through a module operation by operation, and compares each variable of each frame."""
    session, walk = Session(program, module, inputs), Walk()
    stop = session.ask("start")
    while stop["reason"] in ("entry", "step"):
        walk.stops += 1
        frames = session.ask("bt").get("frames", [])
        own = [it for it in frames if (it.get("source") or {}).get("file") == str(here)]
        walk.lines |= {it["source"]["line"] for it in own[:1] if "dispatch @" in it["name"]}
        for number, frame in enumerate(own):
            chain = next((it for it in expected if lines_match(it, own[number:])), ())
            walk.look(session, frame, chain, expected.get(chain, []), folder)
        # By operations, not by lines of Python.
        session.ask("level model")
        stop = session.ask("next")
        session.ask("level python")
    session.close()
    return walk


def step_over(program, module, inputs, here, expected, walk):
    """Steps over each line of the outermost function: no step ends in a call, and each line is one that
    the eager run comes to. Each line that has a dispatch takes a breakpoint."""
    session = Session(program, module, inputs)
    for line in walk.lines:
        answer = session.ask(f"break {here.name}:{line}")
        if not answer["ok"]:
            walk.wrong.add(f"{line}: no breakpoint: {answer['error']}")
    session.ask("delete")
    lines = {chain[0] for chain in expected if len(chain) == 1}
    stop, count = session.ask("start"), 0
    while stop["reason"] in ("entry", "step"):
        frames = session.ask("bt").get("frames", [])
        own = [it for it in frames if (it.get("source") or {}).get("file") == str(here)]
        at = [(it["name"].split(", ")[0], it["source"]["line"]) for it in own]
        if len(at) != 1 or at[0] not in lines:
            walk.wrong.add(f"a step over a line of the outermost function ends at {at}")
        stop, count = session.ask("next"), count + 1
    if stop["reason"] != "completed" or count == 0:
        walk.wrong.add(f"{count} steps over lines, and then {stop['reason']}")
    session.close()


def judge(name, at_least, walk):
    """Prints what was found of a model, and returns whether it is right. Fewer variables than
    `at_least` are a fault, too."""
    right, reasons, wrong = walk.right, walk.reasons - walk.right, sorted(walk.wrong)
    print(
        f"{name:24} {walk.stops:3} stops, {len(right):3} variables right,"
        f" {len(reasons):3} with a reason, {len(wrong)} wrong"
    )
    for sentence in wrong:
        print(f"    {sentence}")
    is_enough = len(right) >= at_least
    if not is_enough:
        print(f"    {at_least} variables were shown before")
    return walk.stops > 0 and is_enough and not wrong
