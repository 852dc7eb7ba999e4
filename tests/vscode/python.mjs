// A model of JAX as the Python that made it: breakpoints in the .py, steps over calls, into them and back, and variables.
// Line numbers are those of runtime/cli/tests/python/noted.py; the program beside it is what `iree_dbg.jax` has made of it.

import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./workbench.mjs";

const WEIGHTS = "4x4xf32=0.5,0.25,-1,1,-0.5,2,1,0.75,0,1,-2,0.5,1,-1,0.25,1.5";
const INPUTS = [
  "4x4xf32=1,-2,3,-4,5,-6,7,-8,9,-10,11,-12,13,-14,15,-16", "4xf32=0.5", WEIGHTS, "4xf32=1,-1,0.5,2", WEIGHTS,
];

/**
 * @param {{folder: string, example: string}} options `example` is the folder of the program.
 * @returns {{title: string, image?: string, act: (user: import("./workbench.mjs").User) => Promise<void>}[]}
 */
export function pythonScenario({ folder, example }) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, ".vscode"), { recursive: true });
  for (const file of ["noted.py", "noted.mlir", "noted.mlir.pymap"]) {
    copyFileSync(join(example, file), join(folder, file));
  }
  const configuration = {
    type: "iree", request: "launch", name: "Model", program: "${workspaceFolder}/noted.mlir", function: "main", inputs: INPUTS,
    record: true,
    // Machine code, as models are deployed: stops are before dispatches.
    compilerFlags: [
      "--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=generic",
    ],
  };
  writeFileSync(join(folder, ".vscode/launch.json"), JSON.stringify({ version: "0.2.0", configurations: [configuration] }));
  /** Waits until the call stack has frames of these functions, innermost first; the innermost also says what runs. */
  const stack = (user, ...functions) => {
    const labels = user.page.locator(".debug-call-stack .monaco-list-row .stack-frame .label");
    const names = async () => (await labels.allInnerTexts()).map((name) => name.trim().split(/[ ,]/)[0]).join(" ");
    return eventually(`the call stack ${functions}`, names, (seen) => seen === functions.join(" "));
  };
  const row = (user, text) => user.page.locator(".debug-variables .monaco-list-row", { hasText: text }).first().waitFor();
  return [
    {
      title: "a breakpoint on a line of Python stops before its dispatch, in its call",
      async act(user) {
        // Until the extension has said that Python may have breakpoints, a key does nothing.
        await user.open("noted.mlir");
        await user.page.locator(".codelens-decoration", { hasText: "Debug" }).first().waitFor();
        await user.open("noted.py");
        await user.goToLine(6);
        await user.toggleBreakpoint();
        await user.press("F5");
        await user.stoppedAt(5);
        await stack(user, "layer[0]", "model");
        await row(user, /weights\['w'\]/);
      },
    },
    {
      title: "in the second turn of the loop, the argument is what the first has left",
      async act(user) {
        await user.press("F5");
        await user.stoppedAt(5);
        await row(user, /x =\s*4x4xf32 ·.* \[-0.2, 3.75/);
      },
    },
    {
      title: "expressions are those of Python",
      image: "python",
      clip: { x: 0, y: 30, width: 1020, height: 1000 },
      async act(user) {
        await user.watch("x.mean()");
        await user.watchIs("x.mean()", "0.16249998100101948");
        await user.enterInConsole("weights['w'].max() - x[0, 1]");
        await user.debugConsoleHas("-1.75");
        await user.page.mouse.move(900, 500);
      },
    },
    {
      title: "a step out of the call leads to the next line of the model, and one back before the call",
      async act(user) {
        await user.removeAllBreakpoints();
        await user.press("Shift+F11");
        await user.stoppedAt(18);
        await user.page.locator(".debug-toolbar .codicon-debug-step-back").first().click();
        await user.stoppedAt(17);
        await stack(user, "model");
      },
    },
    {
      title: "a step in shows the call, a step over runs it",
      async act(user) {
        await user.press("F11");
        await user.stoppedAt(5);
        await stack(user, "layer[1]", "model");
        await user.press("F10");
        await user.stoppedAt(18);
        await user.press("Shift+F5");
        await user.debuggingEnds();
      },
    },
  ];
}
