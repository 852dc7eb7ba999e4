// A stranger's first minutes, with the package that has iree-dbg inside and without iree-compile: the walkthrough and its
// samples, the status item, and what VS Code itself offers once the extension is there (tests, tasks, keys).

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./workbench.mjs";

const CHECKS = `func.func @adds() {
  %two = util.unfoldable_constant 2 : i32
  %four = arith.addi %two, %two : i32
  check.expect_true(%four) : i32
  return
}

func.func @subtracts() {
  %two = util.unfoldable_constant 2 : i32
  %zero = arith.subi %two, %two : i32
  check.expect_true(%zero) : i32
  return
}
`;

const WRONG = `func.func @wrong(%a: tensor<4xf32>) -> tensor<5xf32> {
  return %a : tensor<4xf32>
}
`;

const LAYER = `// One layer: the input times the weights, plus the bias.
func.func @layer(%x: tensor<?x8xf32>, %weights: tensor<8x4xf32>, %bias: tensor<4xf32>) -> tensor<?x4xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %x, %c0 : tensor<?x8xf32>
  %empty = tensor.empty(%batch) : tensor<?x4xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x4xf32>) -> tensor<?x4xf32>
  %product = linalg.matmul ins(%x, %weights : tensor<?x8xf32>, tensor<8x4xf32>) outs(%fill : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %product : tensor<?x4xf32>
}
`;

/** The parts of the window that the pictures of the walkthrough show: a step of it is some 600 pixels wide. */
const CLIPS = {
  values: { x: 48, y: 35, width: 900, height: 430 },
  tensors: { x: 890, y: 35, width: 550, height: 810 },
  nan: { x: 348, y: 320, width: 980, height: 225 },
  model: { x: 540, y: 85, width: 750, height: 350 },
};

/**
 * @param {{folder: string, compiler: string, theme: "dark" | "light", installs: boolean}} options
 * @returns {{title: string, image?: string, clip?: object, act: (user: import("./workbench.mjs").User) => Promise<void>}[]}
 */
export function minuteScenario({ folder, compiler, theme, installs }) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, ".vscode"), { recursive: true });
  const write = (name, text) => writeFileSync(join(folder, name), text);
  write("checks.mlir", CHECKS);
  write("wrong.mlir", WRONG);
  write("layer.mlir", LAYER);
  for (const name of ["weights.npy", "weights.irpa"]) {
    write(name, "");
  }
  write(".vscode/tasks.json", JSON.stringify({
    version: "2.0.0",
    tasks: [{ type: "iree-compile", source: "wrong.mlir", label: "compile wrong", problemMatcher: "$iree-compile" }],
  }));
  const picture = (name) => ({ image: `walkthrough/${name}-${theme}`, clip: CLIPS[name] });
  const form = {
    title: "a form asks for the arguments of a model",
    ...picture("model"),
    async act(user) {
      await user.closeAllEditors();
      await user.clearNotifications().catch(() => undefined);
      await user.open("layer.mlir");
      await user.press("F5");
      const form = await user.argumentForm("@layer");
      const field = form.getByRole("textbox", { name: "%x" });
      await eventually("zeros of the type", () => field.inputValue(), (text) => text === "1x8xf32=0");
      await form.getByText("Random", { exact: true }).first().click();
      await eventually("a random tensor", () => field.inputValue(), (text) => text.includes("random("));
    },
  };
  const steps = [
    {
      title: "the walkthrough has four steps",
      async act(user) {
        // The palette knows the command once VS Code has read the extension's manifest.
        await user.page.locator(".explorer-folders-view .mlir-lang-file-icon").first().waitFor();
        await user.command("IREE: Get Started");
        const steps = user.page.locator(".getting-started-step .step-title");
        await eventually(
          "the steps", () => steps.allInnerTexts(),
          (seen) => ["Stop at a line", "Look at a tensor", "Find the first NaN", "Debug your own model"].every((title) => seen.some((text) => text.includes(title))),
        );
      },
    },
    {
      title: "its first button debugs a sample, without a compiler",
      ...picture("values"),
      async act(user) {
        await user.walkthroughButton("Stop at a line", "Debug the Sample");
        await user.stoppedIn("arith.divf %x, %guess");
        await user.variablesAre({ "%x": "2", "%guess": "2" });
        await user.notification("Paused. Click the grid icon");
        await user.clearNotifications();
      },
    },
    {
      title: "the tip comes once",
      async act(user) {
        await user.press("F10");
        await user.stoppedIn("arith.addf %guess, %quotient");
        if ((await user.notifications()).some((text) => text.includes("stands at a line"))) {
          throw new Error("the tip is there again");
        }
        await user.press("Shift+F5");
        await user.debuggingEnds();
      },
    },
    {
      title: "the second button stops where tensors are",
      async act(user) {
        await user.command("IREE: Get Started");
        await user.walkthroughButton("Look at a tensor", "Debug the Sample");
        await user.stoppedIn("return %edges");
        await user.expandScope("Locals");
      },
    },
    {
      title: "the button in its row shows a tensor as a picture",
      ...picture("tensors"),
      async act(user) {
        await user.openTensor("%edges");
        await user.webviewHas("62x62xf32");
        await user.page.waitForTimeout(1000);
      },
    },
    {
      title: "the third button stops at the first NaN",
      ...picture("nan"),
      async act(user) {
        await user.press("Shift+F5");
        await user.debuggingEnds();
        await user.closeAllEditors();
        await user.command("IREE: Get Started");
        await user.walkthroughButton("Find the first NaN", "Debug the Sample");
        await user.stoppedIn("arith.divf %x, %sum");
        await user.page.locator(".exception-widget", { hasText: "is NaN: %x = inf" }).first().waitFor();
        await eventually("the operands", () => user.variables(), (seen) => /INF/i.test(seen["in %total"] ?? ""));
      },
    },
    {
      title: "a narrow side bar still shows names and values",
      async act(user) {
        await user.narrowSideBar(180);
      },
    },
    {
      title: "the status item says what is missing",
      async act(user) {
        await user.press("Shift+F5");
        await user.debuggingEnds();
        await user.closeAllEditors();
        await user.narrowSideBar(340);
        await user.open("checks.mlir");
        await user.statusHas("IREE no iree-compile");
      },
    },
    {
      title: "a click on it lists what can be done",
      async act(user) {
        await user.page.locator('[id$="iree-dbg.status"]').first().click();
        await user.listHas("Choose iree-compile", "Install iree-compile into .venv", "Restart", "Get Started");
        await user.page.keyboard.press("Escape");
      },
    },
    {
      title: "files have icons of their own",
      async act(user) {
        await user.press("Control+Shift+E");
        await eventually(
          "icons",
          () => user.page.locator(".explorer-folders-view .monaco-icon-label").evaluateAll((labels) =>
            labels.map((label) => `${label.textContent} ${getComputedStyle(label, "::before").backgroundImage}`)),
          (seen) => ["checks.mlir", "weights.npy", "weights.irpa"].every((name) => seen.some((text) => text.startsWith(name) && text.includes(".svg"))),
        );
      },
    },
    {
      title: "no key is that of another command",
      async act(user) {
        await user.command("Preferences: Open Default Keyboard Shortcuts (JSON)");
        await user.activeTab("Default Keybindings");
        await user.press("Control+A", "Control+C");
        const text = await user.page.evaluate(() => navigator.clipboard.readText());
        const all = JSON.parse(text.replace(/^\s*\/\/.*$/gm, "").replace(/,(\s*])/g, "$1"));
        const own = all.filter(({ command }) => command.startsWith("iree-dbg."));
        if (own.length < 6) {
          throw new Error(`${own.length} keys of ${all.length}`);
        }
        const same = all.filter((other) => !other.command.startsWith("iree-dbg.") && own.some(({ key }) => key === other.key));
        if (same.length > 0) {
          throw new Error(JSON.stringify(same));
        }
        await user.closeAllEditors();
      },
    },
  ];
  if (!installs) {
    const name = () => write(".vscode/settings.json", JSON.stringify({ "iree-dbg.ireeCompile": compiler }));
    return [...steps, { ...form, act: async (user) => { name(); await user.open("checks.mlir"); await user.statusHas("IREE 3."); await form.act(user); } }];
  }
  return [
    ...steps,
    {
      title: "Install into .venv installs iree-compile, and the launch goes on",
      async act(user) {
        await user.open("wrong.mlir");
        await user.press("F5");
        await user.answerNotification("iree-compile is needed to compile wrong.mlir", "Install into .venv");
        await eventually(
          "the compiler", async () => existsSync(join(folder, ".venv/bin/iree-compile")), Boolean, 300_000,
        );
        // The form is the next question of the launch that has waited.
        const form = await user.argumentForm("@wrong", 60_000);
        await form.locator("button.primary").waitFor();
        await user.page.keyboard.press("Escape");
        const version = execFileSync(join(folder, ".venv/bin/iree-compile"), ["--version"], { encoding: "utf8" });
        await user.command("View: Close Panel").catch(() => undefined);
        await user.open("wrong.mlir");
        await user.statusHas(/version (\S+)/.exec(version)[1]);
      },
    },
    {
      title: "a task compiles, and its errors are problems",
      async act(user) {
        await user.command("Tasks: Run Task");
        await user.pick("compile wrong");
        // The task's terminal comes to the front, and takes keys for itself.
        await eventually("two errors", () => user.page.locator(".editor-instance .squiggly-error").count(), (count) => count >= 2);
        await user.command("Problems: Focus on Problems View");
        await eventually(
          "the problem", () => user.page.locator(".markers-panel .monaco-list-row").allInnerTexts(),
          (rows) => rows.some((row) => row.replaceAll("\u00a0", " ").includes("type of return operand 0") && row.includes("iree-compile")),
        );
      },
    },
    {
      title: "checks are in the Test Explorer, and run",
      async act(user) {
        await user.open("checks.mlir");
        await user.command("Testing: Focus on Test Explorer View");
        const rows = user.page.locator(".test-explorer .monaco-list-row");
        await eventually("the file", () => rows.allInnerTexts(), (seen) => seen.some((text) => text.includes("checks.mlir")));
        await user.command("Test: Run All Tests");
        await eventually(
          "results", () => rows.evaluateAll((all) => all.map((row) => row.getAttribute("aria-label") ?? "")),
          (seen) => seen.some((text) => /checks\.mlir.*Failed/i.test(text)), 60_000,
        );
        await rows.filter({ hasText: "checks.mlir" }).first().click();
        await user.press("ArrowRight");
        await eventually(
          "each result", () => rows.evaluateAll((all) => all.map((row) => row.getAttribute("aria-label") ?? "")),
          (seen) => seen.some((text) => /@adds.*Passed/i.test(text)) && seen.some((text) => /@subtracts.*Failed/i.test(text)),
        );
      },
    },
    {
      title: "VS Code says how long the extension took to start",
      async act(user) {
        await user.command("Developer: Show Running Extensions");
        const row = user.page.locator(".runtime-extensions-editor .monaco-list-row", { hasText: "IREE debugger" }).first();
        const time = await eventually("its time", () => row.innerText(), (text) => /\d+ms/.test(text));
        console.log(`        activation: ${/[\d, +]*\d+ms.*/.exec(time)[0]}`);
        await user.closeAllEditors();
      },
    },
    form,
  ];
}
