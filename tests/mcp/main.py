"""An agent finds planted faults by `iree-dbg mcp` alone, in few calls each.

    usage: tests/mcp/main.py IREE_DBG [FAULT]...

The client is the reference implementation of the protocol. What an agent would conclude is read
from the answers, and compared with the fault that was planted. A last part checks the server
itself: what is listed and refused, calls that are cancelled or run out of time, files that are no
modules.
"""

import asyncio
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import numpy as np

from client import agent

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# The most calls for a fault.
MOST_CALLS = 8
BYTECODE = "--iree-hal-local-target-device-backends=vmvx"
MACHINE_CODE = "--iree-hal-local-target-device-backends=llvm-cpu"
ENVIRONMENT = dict(os.environ)


class Suite:
    """The program, a folder for its modules, and what was found."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.passed = self.failed = 0

    def compile(self, source, module, *flags):
        shutil.copy(source, self.folder)
        command = [self.program, "compile", Path(source).name, "-o", module, "--", *flags]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return module


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def fault(name):
    return HERE / "faults" / f"{name}.mlir"


async def mask(suite, ask):
    """A row of the mask is all -inf: the NaN of the weights began there."""
    mask = np.zeros((4, 4), np.float32)
    mask[2] = -np.inf
    np.save(suite.folder / "mask.npy", mask)
    suite.compile(fault("mask"), "mask.vmfb", MACHINE_CODE)
    debug_file = suite.folder / "mask.vmfb.debug"
    before = digest(debug_file)
    await ask("load", module="mask.vmfb", inputs=["4x4xf32=1", "@mask.npy"])
    end = await ask("run")
    assert "nan" in end["results"].lower(), end
    first = await ask("first_bad")
    assert first["found"], first["text"]
    # The machine code is not compiled to bytecode, and that is said.
    assert "no compiler may be started here" in first["sentence"], first["text"]
    assert any("--allow=compile" in hint for hint in first["left_out"]), first["text"]
    assert digest(debug_file) == before, "the debug file is as it was"
    why = await ask("why")
    assert why["links"][-1]["origin"] == "input", why["text"]
    assert "%mask" in why["links"][-1]["names"], why["text"]
    figures = await ask("tensor", of="%mask")
    assert figures["inf"] == 4 and figures["first_inf"] == "[2, 0]", figures["text"]


async def wrong_dispatch(suite, ask):
    """The compiler makes wrong code of one dispatch for one back end: by its text, which is it?"""
    source = ROOT / "runtime/cli/tests/difference.mlir"
    suite.compile(source, "bytecode.vmfb", BYTECODE)
    suite.compile(source, "machine.vmfb", MACHINE_CODE)
    inputs = [
        "2x4xf32=1,2,3,4,5,6,7,8",
        "4x4xf32=0.25,0.5,0,1,1,0,0.5,0.25,0.125,1,1,0,0,0.5,0.25,1",
    ]
    await ask("load", module="bytecode.vmfb", function="layers", inputs=inputs)
    both = await ask("diff", other="machine.vmfb")
    assert both["verdict"] == "differs" and both["first"]["command"] == 2, both["text"]
    assert "side B is right, and side A is wrong" in both["first"]["judged"], both["text"]
    first = await ask("first_bad", what="difference")
    assert first["found"] and first["frames"][0]["place"]["line"] == 10, first["text"]
    figures = await ask("tensor", of="%rest", expected=True)
    assert figures["expected"].startswith("[0.78125, "), figures["text"]
    assert figures["elements"].startswith("2x4xf32=[-0.21875 "), figures["text"]


async def stale_weight(suite, ask):
    """One weight of a module is not what it was in another one: which dispatch reads it?"""
    example = ROOT / "runtime/cli/example"
    suite.compile(example / "classifier.mlir", "classifier.vmfb", MACHINE_CODE)
    suite.compile(example / "classifier_faulty.mlir", "faulty.vmfb", MACHINE_CODE)
    await ask("load", module="faulty.vmfb", inputs=["1x16xf32=0.1"])
    own = await ask("diff")
    assert own["verdict"] in ("equal", "within"), own["text"]
    both = await ask("diff", other="classifier.vmfb")
    assert both["verdict"] == "differs", both["text"]
    assert "matmul_1x4x8" in both["first"]["dispatch"], both["text"]
    assert both["first"]["tensors"][0]["beyond"] == 1, both["text"]
    assert "at [0,2]" in both["first"]["tensors"][0]["worst"], both["text"]
    await ask("run", how="start")
    await ask("run", how="until", to="dispatch '*dispatch_1*'")
    weight = await ask("evaluate", expression="%weights2[7, 2]")
    assert weight["value"].startswith("0.5"), weight["text"]


async def index(suite, ask):
    """An index that was read from a table leads out of another one."""
    suite.compile(fault("index"), "index.vmfb", BYTECODE)
    inputs = ["32x8xf32=1", "4xi64=0,1,2,3"]
    await ask("load", module="index.vmfb", inputs=inputs, guard=True)
    first = await ask("first_bad", what="failure")
    assert first["found"], first["text"]
    assert "index 47 of a dimension of 32" in first["sentence"], first["text"]
    order = await ask("evaluate", expression="argmax(%order)")
    assert order["value"] == "2", order["text"]


async def overwritten(suite, ask):
    """A counter comes out too small: who has set it back?"""
    suite.compile(fault("overwritten"), "overwritten.vmfb", BYTECODE)
    await ask("load", module="overwritten.vmfb", inputs=["5", "2"])
    await ask("break", at="overwritten.mlir:31")
    stop = await ask("run")
    assert stop["reason"] == "breakpoint", stop["text"]
    result = await ask("evaluate", expression="%result")
    assert result["value"] == "2", result["text"]
    writer = await ask("who_wrote", of="@count", history=True)
    values = [row.split()[0] for row in writer["history"]]
    assert values == ["0", "1", "2", "3", "0", "1", "2"], writer["text"]
    culprit = writer["history"][4]
    assert "overwritten.mlir:12" in culprit, writer["text"]
    moment = re.search(r"goto (\S+)", culprit)[1]
    there = await ask("run", how="goto", to=moment)
    assert there["frames"][0]["name"] == "reset", there["text"]


async def assertion(suite, ask):
    """An assertion fails: with which numbers, and at which turn?"""
    suite.compile(fault("assertion"), "assertion.vmfb", BYTECODE)
    await ask("load", module="assertion.vmfb", inputs=["0.8", "8"])
    stop = await ask("run")
    assert stop["progress"] == "over", stop["text"]
    await ask("load", module="assertion.vmfb", inputs=["0.1", "8"])
    stop = await ask("run")
    assert stop["progress"] == "failed", stop["text"]
    assert "the guess has become too small" in stop["sentence"], stop["text"]
    before = await ask("run", how="back")
    values = {value["name"]: value["value"] for value in before["values"]}
    assert (values["%i"], values["%square"], values["%ok"]) == ("0", "0.3025", "0"), before["text"]


async def wrong_input(suite, ask):
    """One pixel of an input is far off: the overflow began with it."""
    source = ROOT / "runtime/cli/example/classifier.mlir"
    suite.compile(source, "classifier.vmfb", MACHINE_CODE)
    image = np.full((1, 16), 0.1, np.float32)
    image[0, 5] = 900
    np.save(suite.folder / "image.npy", image)
    await ask("load", module="classifier.vmfb", inputs=["@image.npy"])
    first = await ask("first_bad", what="inf")
    assert first["found"] and first["frames"][0]["place"]["line"] in (30, 34), first["text"]
    figures = await ask("tensor", of="%image")
    assert figures["max"] == "900" and figures["max_at"] == "[0, 5]", figures["text"]


FAULTS = [mask, wrong_dispatch, stale_weight, index, overwritten, assertion, wrong_input]


async def listed(suite):
    """What is there without and with permission, and what each tool says of itself."""
    async with agent(suite.program, suite.folder) as client:
        assert "repro" not in client.tools and "stages" not in client.tools
        assert len(client.tools) == 11, list(client.tools)
        assert all(tool.annotations.read_only_hint for tool in client.tools.values())
        text = await client.refused("repro", dispatch="1", to="x")
        assert "--allow=compile,write" in text, text
        text = await client.refused("load", module="mask.mlir")
        assert "--allow=compile" in text, text
    async with agent(suite.program, suite.folder, "--allow=compile,write") as client:
        tools = client.tools
        assert len(tools) == 13, list(tools)
        assert tools["repro"].annotations.destructive_hint
        assert "Writes files" in tools["repro"].description
        assert not tools["stages"].annotations.read_only_hint
        assert "iree-compile" in tools["load"].description


async def compiling(suite):
    """With permission: a source is compiled, followed, and a dispatch of it written."""
    async with agent(
        suite.program, suite.folder, "--allow=compile,write", env=ENVIRONMENT
    ) as client:
        await client.ask("load", module="mask.mlir", inputs=["4x4xf32=1", "4x4xf32=0"])
        end = await client.ask("run")
        assert "0.25" in end["results"], end["text"]
        traced = await client.ask("stages", line=17, flags=[BYTECODE])
        lines = {stage["name"]: stage["lines"] for stage in traced["stages"]}
        assert any("math.exp" in line for line in lines["flow"]), traced["text"]
        whole = await client.session.read_resource(traced["stages"][0]["uri"])
        assert "math.exp" in whole.contents[0].text
        await client.ask("load", module="classifier.vmfb", inputs=["1x16xf32=0.1"])
        written = await client.ask("repro", dispatch="1", to="written")
        assert written["same"] and "run.sh" in written["files"], written["text"]
        text = await client.refused("repro", dispatch="1", to="../elsewhere")
        assert "outside of" in text, text


async def ended(suite):
    """What runs long is interrupted or cancelled, and the server answers meanwhile."""
    suite.compile(fault("endless"), "endless.vmfb", BYTECODE)
    async with agent(suite.program, suite.folder) as client:
        await client.ask("load", module="endless.vmfb", inputs=["9000000000000000000"])
        stop = await client.ask("run", seconds=0.5)
        assert stop["reason"] == "pause", stop["text"]
        stop = await client.ask("run", how="go-on", seconds=0.5)
        assert stop["reason"] == "pause", stop["text"]
        heard = []

        async def hear(progress, total, message):
            heard.append((progress, total, message))

        call = client.session.call_tool(
            "run", {"how": "go-on", "seconds": 2.5}, progress_callback=hear
        )
        assert not (await call).is_error
        assert heard and heard[0][1:] == (2.5, "`run` runs"), heard
        running = asyncio.create_task(client.ask("run", seconds=600))
        text = ""
        while "`run` has been running" not in text:
            await asyncio.sleep(0.05)
            text = (await client.session.call_tool("state", {})).content[0].text
        await client.session.list_tools()
        assert (await client.session.list_resources()).resources
        running.cancel()
        while True:
            state = await client.session.call_tool("state", {})
            if not state.is_error:
                break
            await asyncio.sleep(0.05)
        assert "paused" in state.content[0].text or "stands still" in state.content[0].text
        source = await client.session.read_resource("iree-dbg://source/endless.mlir")
        assert source.contents[0].text == fault("endless").read_text()


async def bad_files(suite):
    """Files that are no modules, and files elsewhere: an error, and the program that was there
    stays."""
    outside = Path(tempfile.mkdtemp()) / "outside.npy"
    np.save(outside, np.zeros(4, np.float32))
    (suite.folder / "broken.vmfb").write_bytes(b"\x00" * 100)
    whole = (suite.folder / "mask.vmfb").read_bytes()
    (suite.folder / "cut.vmfb").write_bytes(whole[: len(whole) // 2])
    (suite.folder / "link.vmfb").symlink_to(outside)
    async with agent(suite.program, suite.folder) as client:
        await client.ask("load", module="mask.vmfb", inputs=["4x4xf32=1", "4x4xf32=0"])
        for module in ["broken.vmfb", "cut.vmfb", "missing.vmfb", "link.vmfb", str(outside), "."]:
            await client.refused("load", module=module)
        for inputs in [["nonsense", "4x4xf32=1"], [f"@{outside}", "4x4xf32=1"]]:
            await client.refused("load", module="mask.vmfb", inputs=inputs)
        await client.refused("load", module="mask.vmfb", nonsense=1)
        await client.refused("evaluate", expression="%mask")
        end = await client.ask("run")
        assert "0.25" in end["results"], end["text"]
        await client.ask("run", how="back")
        text = await client.refused("evaluate", expression=f"%weights - @{outside}")
        assert "outside of" in text, text
        for expression in ["%mask\nshell ls", "1 +", "%nothing", "@../x.npy"]:
            await client.refused("evaluate", expression=expression)
    shutil.rmtree(outside.parent)


async def confined(suite):
    """A module may name any file as its source: no file outside of the folders is read."""
    elsewhere = Path(tempfile.mkdtemp()).resolve()
    module = suite.folder / "elsewhere.vmfb"
    text = fault("assertion").read_text() + "// a secret\n"
    (elsewhere / "secret.mlir").write_text(text)
    command = [suite.program, "compile", elsewhere / "secret.mlir", "-o", module, "--", BYTECODE]
    subprocess.run(command, cwd=elsewhere, check=True, capture_output=True)
    # Without the debug file's own copy.
    (suite.folder / "elsewhere.vmfb.debug").unlink()
    async with agent(suite.program, suite.folder) as client:
        await client.ask("load", module="elsewhere.vmfb", inputs=["0.1", "8"])
        stop = await client.ask("run")
        assert "secret.mlir" in stop["text"] and "// a secret" not in stop["text"], stop["text"]
        for resource in (await client.session.list_resources()).resources:
            read = await client.session.read_resource(resource.uri)
            assert "// a secret" not in read.contents[0].text, resource.uri
    both = [f"--root={suite.folder}", f"--root={elsewhere}"]
    async with agent(suite.program, suite.folder, *both) as client:
        await client.ask("load", module="elsewhere.vmfb", inputs=["0.1", "8"])
        uris = [it.uri for it in (await client.session.list_resources()).resources]
        read = [(await client.session.read_resource(uri)).contents[0].text for uri in uris]
        assert any("// a secret" in text for text in read), uris
    shutil.rmtree(elsewhere)


SERVER = [listed, compiling, ended, bad_files, confined]


async def perform(suite, part):
    if part in FAULTS:
        async with agent(suite.program, suite.folder) as client:
            await part(suite, client.ask)
            assert client.calls <= MOST_CALLS, f"{client.calls} calls"
            return f"{client.calls} calls"
    await part(suite)
    return ""


def main():
    program = Path(sys.argv[1]).resolve()
    parts = [part for part in FAULTS + SERVER if not sys.argv[2:] or part.__name__ in sys.argv[2:]]
    with tempfile.TemporaryDirectory() as folder:
        suite = Suite(program, Path(folder).resolve())
        for part in parts:
            try:
                said = asyncio.run(perform(suite, part))
                suite.passed += 1
                print(f"{part.__name__}: {said or 'passed'}")
            except Exception as error:
                suite.failed += 1
                for leaf in leaves(error):
                    lines = [at.lineno for at in traceback.extract_tb(leaf.__traceback__)]
                    print(f"{part.__name__}: FAILED at {lines}: {type(leaf).__name__}: {leaf}")
    print(f"{suite.passed} passed, {suite.failed} failed")
    return 1 if suite.failed else 0


def leaves(error):
    """The errors in groups of errors."""
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in leaves(inner)]
    return [error]


if __name__ == "__main__":
    sys.exit(main())
