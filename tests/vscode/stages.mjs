// "What Becomes of This": the stages of a function in a real VS Code. Line numbers are those of
// runtime/cli/tests/device/perceptron.mlir and of workspace/euclid.mlir.

import { eventually } from "./workbench.mjs";

/** @returns {{title: string, image?: string, act: (user: import("./workbench.mjs").User) => Promise<void>}[]} */
export function stagesScenario() {
  return [
    {
      title: "the lens over a function lists what it becomes in each stage",
      image: "stages",
      async act(user) {
        await user.closeAllEditors();
        await user.open("perceptron.mlir");
        await user.lens("What Becomes of This");
        await user.listHas("1.input", "6.flow", "12.vm", "13.bytecode", "perceptron_dispatch_0");
      },
    },
    {
      title: "a stage is a document without locations",
      async act(user) {
        await user.pick("6.flow");
        await user.activeTab("6.flow.mlir");
        await user.editorHas("flow.dispatch @perceptron_dispatch_0");
      },
    },
    {
      title: "the next stage, and the one before it",
      async act(user) {
        await user.command("IREE: Next Stage");
        await user.activeTab("7.stream.mlir");
        await user.command("IREE: Previous Stage");
        await user.activeTab("6.flow.mlir");
      },
    },
    {
      title: "a stage is compared with the one before",
      image: "stage-diff",
      async act(user) {
        await user.command("IREE: Compare with Previous Stage");
        await user.activeTab("5.dispatch-creation.mlir ↔ 6.flow.mlir");
        await user.pointAway();
        await user.editorHas("flow.dispatch @perceptron_dispatch_0");
      },
    },
    {
      title: "a line of the source is followed down to its bytes",
      image: "where",
      async act(user) {
        await user.closeAllEditors();
        await user.open("euclid.mlir");
        await user.goToLine(20);
        await user.command("IREE: Where Did This Go");
        await user.listHas("source, line 20", "arith.muli", "vm.mul.i32");
      },
    },
    {
      title: "and from its instruction back to the source",
      async act(user) {
        await user.pick("+0x");
        await user.activeTab("13.bytecode.vmasm");
        await user.editorHas("vm.mul.i32");
        await user.command("Go to Definition");
        await user.activeTab("euclid.mlir");
      },
    },
    {
      title: "a function is listed after each pass that changed it",
      async act(user) {
        await user.command("IREE: Show After Each Pass");
        await user.listHas("after each pass", "InlinerPass");
        await user.pick("InlinerPass");
        await user.editorHas("util.func");
      },
    },
    {
      title: "stages open in columns of their own, and stay",
      async act(user) {
        await user.closeAllEditors();
        await user.open("perceptron.mlir");
        await user.goToLine(9);
        await user.press("Control+B");
        await user.command("IREE: Open Stage to the Side");
        await user.pickMany("flow", "stream", "vm");
        await user.frontTabsAre("perceptron.mlir", "flow @perceptron.mlir", "stream @perceptron.mlir", "vm @perceptron.mlir");
        // The focus stays in the source.
        await eventually("the cursor in line 9", () => user.cursor(), (text) => text.startsWith("Ln 9,"));
      },
    },
    {
      title: "they come back for another function, in the same columns",
      async act(user) {
        await user.open("euclid.mlir");
        await user.press("Control+B");
        await user.goToLine(20);
        await user.command("IREE: Reopen Stages for This Function");
        await user.frontTabsAre("euclid.mlir", "flow @lcm.mlir", "stream @lcm.mlir", "vm @lcm.mlir");
      },
    },
    {
      title: "the operation at the cursor is marked in all of them",
      image: "linked-stages",
      clip: { x: 48, y: 35, width: 1392, height: 490 },
      async act(user) {
        await user.goToLine(20);
        await user.linkedAre({
          "euclid.mlir": "arith.muli", "flow @lcm.mlir": "arith.muli", "stream @lcm.mlir": "arith.muli", "vm @lcm.mlir": "vm.mul.i32",
        });
        await user.goToLine(11);
        await user.linkedAre({ "euclid.mlir": "arith.remui", "flow @lcm.mlir": "arith.remui", "vm @lcm.mlir": "vm.rem.i32.u" });
      },
    },
    {
      title: "and from a stage back to the source",
      async act(user) {
        await user.goToLine(20);
        await user.linkedAre({ "vm @lcm.mlir": "vm.mul.i32" });
        await user.clickLine("vm%20%40lcm", "vm.div.i32.u");
        await user.linkedAre({ "euclid.mlir": "arith.divui", "flow @lcm.mlir": "arith.divui", "vm @lcm.mlir": "vm.div.i32.u" });
        await eventually("the focus to stay", () => user.page.locator(".editor-group-container.active .tab.active .label-name").innerText(), (text) => text.trim() === "vm @lcm.mlir");
      },
    },
    {
      title: "a pane moves to the next stage in its place, down to the bytecode",
      async act(user) {
        await user.command("IREE: Next Stage");
        await user.frontTabsAre("euclid.mlir", "flow @lcm.mlir", "stream @lcm.mlir", "bytecode @lcm.vmasm");
        await user.linkedAre({ "euclid.mlir": "arith.divui", "bytecode @lcm.vmasm": "vm.div.i32.u" });
        await user.command("IREE: Previous Stage");
        await user.frontTabsAre("euclid.mlir", "flow @lcm.mlir", "stream @lcm.mlir", "vm @lcm.mlir");
      },
    },
    {
      title: "panes follow what is typed, without a save",
      async act(user) {
        await user.goToLine(20);
        await user.press("End", "Enter");
        await user.page.locator(".tab.active.dirty").waitFor();
        await user.page.keyboard.type("%unused = arith.xori %multiple, %a : i32");
        // The parser of the source still has it; canonicalisation has not.
        await user.goToLine(21);
        await user.stageStatusHas("Not in flow, stream, vm");
      },
    },
    {
      title: "an operation that is gone says by which pass",
      async act(user) {
        await user.command("IREE: Why Is It Gone?");
        await user.listHas("Gone between input and abi", "nothing used it (CanonicalizerPass)", "arith.xori");
        await user.press("Escape");
      },
    },
    {
      title: "what does not compile is told in one place, and panes keep their text",
      async act(user) {
        await user.goToLine(19);
        await user.press("End", "Enter");
        await user.page.keyboard.type("%wrong = arith.addi %nothing, %a : i32");
        await user.stageStatusHas("does not compile: line 20: use of undeclared SSA value");
        // Lines that were not edited are linked as before.
        await user.goToLine(21);
        await user.linkedAre({ "euclid.mlir": "arith.muli", "vm @lcm.mlir": "vm.mul.i32" });
        await user.goToLine(18);
        await user.linkedAre({ "vm @lcm.mlir": "vm.call @gcd" });
        await user.goToLine(20);
        await user.press("Control+Shift+K");
        await user.goToLine(20);
        await user.linkedAre({ "euclid.mlir": "arith.muli", "vm @lcm.mlir": "vm.mul.i32" });
        await user.command("File: Revert File");
        await user.page.locator(".tab.active.dirty").waitFor({ state: "detached" });
      },
    },
    {
      title: "links can be turned off",
      async act(user) {
        await user.goToLine(20);
        await user.linkedAre({ "vm @lcm.mlir": "vm.mul.i32" });
        await user.command("IREE: Link Lines of Stages (On/Off)");
        await user.linkedAre({ "euclid.mlir": null, "vm @lcm.mlir": null });
        await user.command("IREE: Link Lines of Stages (On/Off)");
        await user.linkedAre({ "vm @lcm.mlir": "vm.mul.i32" });
        await user.closeAllEditors();
      },
    },
  ];
}
