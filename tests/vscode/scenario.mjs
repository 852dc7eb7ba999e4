// The user's actions, step by step. Line numbers are those of workspace/euclid.mlir, and of the
// perceptron that the terminal debugger's tests use.

/**
 * @param {{listing: string[]}} module the disassembly of workspace/euclid.vmfb, line by line
 * @returns {{title: string, image?: string, act: (user: import("./workbench.mjs").User) => Promise<void>}[]}
 */
export function scenario({ listing }) {
  const division = listing.findIndex((line) => line.includes("vm.div.i32.u")) + 1;
  return [
    {
      title: "open a .mlir and hover an export",
      image: "hover",
      async act(user) {
        await user.open("euclid.mlir");
        await user.hover("@lcm", "@lcm(%a: i32, %b: i32) -> i32");
        await user.hover("@lcm", "0ii_i");
        // From the compiled module beside the source.
        await user.hover("@lcm", "sync func @lcm(%input0: i32, %input1: i32) -> (%output0: i32)");
      },
    },
    {
      title: "set a breakpoint in the loop",
      async act(user) {
        await user.goToLine(11);
        await user.toggleBreakpoint();
      },
    },
    {
      title: "F5 asks for the arguments, compiles, and stops at the breakpoint",
      async act(user) {
        await user.press("F5");
        await user.giveArguments("@lcm", { "%a": "48", "%b": "36" });
        await user.stoppedAt(11);
      },
    },
    {
      title: "the call stack leads from the loop to the export",
      async act(user) {
        await user.callStackIs("gcd euclid.mlir:11", "lcm euclid.mlir:18");
      },
    },
    {
      title: "the registers hold the arguments",
      async act(user) {
        await user.expandScope("Registers");
        await user.variablesAre({ i0: 48, i1: 36 });
      },
    },
    {
      title: "a value of the source under the pointer is the debugger's",
      async act(user) {
        await user.valueUnderPointer("%y", "36");
      },
    },
    {
      title: "a step leads to the end of the loop's body",
      async act(user) {
        await user.press("F10");
        await user.stoppedAt(12);
        await user.variablesAre({ i2: 12 });
      },
    },
    {
      title: "a second step leads back to the condition, with new values",
      async act(user) {
        await user.press("F10");
        await user.stoppedAt(7);
        await user.variablesAre({ i0: 36, i1: 12 });
      },
    },
    {
      title: "a button of the toolbar shows the same stop in the VM program",
      image: "levels",
      async act(user) {
        await user.chooseLevel("vm");
        await user.activeTab("module.vm.mlir");
        await user.stoppedIn("vm.cmp.nz.i32");
      },
    },
    {
      title: "a step goes to the next operation there, and values have its names",
      async act(user) {
        await user.press("F10");
        await user.stoppedIn("vm.cond_br");
        await user.expandScope("Locals");
        await user.variablesAre({ "%0": 36, "%1": 12 });
      },
    },
    {
      title: "it takes breakpoints",
      async act(user) {
        await user.goToLine(8);
        await user.toggleBreakpoint();
        await user.press("F5");
        await user.stoppedIn("vm.rem.i32.u");
        await user.toggleBreakpoint();
      },
    },
    {
      title: "and from there back to the source",
      async act(user) {
        await user.chooseLevel("source");
        await user.activeTab("euclid.mlir");
        await user.variablesAre({ "%x": 36, "%y": 12 });
      },
    },
    {
      title: "without the breakpoint the program runs to its result",
      async act(user) {
        await user.goToLine(11);
        await user.toggleBreakpoint();
        await user.press("F5");
        await user.debuggingEnds();
        await user.debugConsoleHas("i32=144");
      },
    },
    {
      title: "a .vmfb opens as its disassembly, with breakpoints",
      async act(user) {
        await user.closeAllEditors();
        await user.openDisassembly("euclid.vmfb");
        await user.goToLine(division);
        await user.toggleBreakpoint();
      },
    },
    {
      title: "F5 stops there in the disassembly",
      image: "disassembly",
      async act(user) {
        await user.press("F5");
        await user.giveArguments("@lcm", { "%input0": "48", "%input1": "36" });
        await user.activeTab("euclid.vmfb.vmasm");
        await user.stoppedAt(division);
        await user.expandScope("Registers");
        await user.variablesAre({ i0: 48, i2: 12 });
      },
    },
    {
      title: "stepping there goes instruction by instruction",
      async act(user) {
        await user.press("F10");
        await user.stoppedAt(division + 1);
        await user.variablesAre({ i2: 4 });
      },
    },
    {
      title: "Shift+F5 ends the session",
      async act(user) {
        await user.press("Shift+F5");
        await user.debuggingEnds();
      },
    },
    {
      title: "a damaged module says what is wrong with it",
      async act(user) {
        await user.choose("damaged.vmfb");
        await user.webviewHas("cut short");
      },
    },
    {
      title: "a breakpoint on a line that becomes part of a dispatch",
      async act(user) {
        await user.closeAllEditors();
        await user.open("perceptron.mlir");
        await user.goToLine(15);
        await user.toggleBreakpoint();
      },
    },
    {
      title: "F5 stops in the dispatch, and the call stack leads there",
      image: "dispatch",
      async act(user) {
        await user.press("F5");
        await user.giveArguments("@perceptron", { "%x": "4x8xf32=1" });
        await user.stoppedAt(15);
        await user.callStackNames(
          "%h · perceptron_dispatch_0_matmul_4x256x8_f32",
          "workgroup (0,0,0)",
          "%h · perceptron, command 1: dispatch @perceptron_dispatch_0_matmul_4x256x8_f32 [4,1,1]",
        );
        await user.expandScope("Dispatch");
        await user.variablesAre({ workgroup_id: "(0, 0, 0)", "in %x": "4x8xf32 · μ 1 σ 0 · [1, 1, 1, 1, 1, 1, 1, 1, …]" });
      },
    },
    {
      title: "stepping out leads to the next workgroup",
      async act(user) {
        await user.toggleBreakpoint();
        await user.press("Shift+F11");
        await user.stoppedAt(9);
        await user.variablesAre({ workgroup_id: "(1, 0, 0)" });
      },
    },
    {
      title: "and the model runs to its result",
      async act(user) {
        await user.press("F5");
        await user.debuggingEnds();
        await user.debugConsoleHas("4x4xf32=[192 192 192 192]");
      },
    },
    {
      title: "a breakpoint with a condition and one with a message",
      async act(user) {
        await user.closeAllEditors();
        await user.open("euclid.mlir");
        await user.removeAllBreakpoints();
        await user.goToLine(11);
        await user.addBreakpoint("Conditional Breakpoint", "%y == 12");
        await user.goToLine(18);
        await user.addBreakpoint("Logpoint", "of {%a} and {%b}");
      },
    },
    {
      title: "F5 stops where the condition holds, and the message is in the console",
      async act(user) {
        await user.press("F5");
        // The last ones are there.
        await user.giveArguments("@lcm", {});
        await user.stoppedAt(11);
        await user.expandScope("Registers");
        await user.variablesAre({ i0: 36, i1: 12 });
        await user.debugConsoleHas("of 48 and 36");
      },
    },
    {
      title: "a watch computes with the values of the source",
      async act(user) {
        await user.watch("%x * 100 + %y");
        await user.watchIs("%x * 100 + %y", 3612);
      },
    },
    {
      title: "a value that is set changes what depends on it",
      image: "watch",
      async act(user) {
        await user.setValue("i1", "10");
        await user.variablesAre({ i1: 10 });
        await user.watchIs("%x * 100 + %y", 3610);
      },
    },
    {
      title: "a value that changes stops the program",
      async act(user) {
        await user.breakOnChange("i2");
        await user.press("F5");
        // It is shown where the value was written.
        await user.stoppedAt(11);
        await user.variablesAre({ i2: 6 });
      },
    },
    {
      title: "the program continues with it",
      async act(user) {
        await user.removeAllBreakpoints();
        await user.press("F5");
        await user.debuggingEnds();
        await user.debugConsoleHas("i32=864");
      },
    },
  ];
}
