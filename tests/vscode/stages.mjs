// "What Becomes of This": the stages of a function in a real VS Code. Line numbers are those of
// runtime/cli/tests/device/perceptron.mlir and of workspace/euclid.mlir.

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
  ];
}
