// A newcomer's first minutes: launches that go wrong, what VS Code then says, and the way out.

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAccessible, keysReachAll } from "./accessibility.mjs";
import { eventually } from "./workbench.mjs";

const NUMBERS = `vm.module @numbers {
  vm.export @double as("odd name")
  vm.export @triple
  vm.func private @double(%i : i32) -> i32 {
    %c2 = vm.const.i32 2
    %0 = vm.mul.i32 %i, %c2 : i32
    vm.return %0 : i32
  }
  vm.func private @triple(%i : i32) -> i32 {
    %c3 = vm.const.i32 3
    %0 = vm.mul.i32 %i, %c3 : i32
    vm.return %0 : i32
  }
}
`;

const WRONG = `func.func @wrong(%a: tensor<4xf32>) -> tensor<5xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
`;

const LAYER = `func.func @layer(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = arith.addf %x, %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
`;

/**
 * Presses F5 once, and tells whether this appears. A launch that is still under way would come in between later, so it is
 * given time before the next one.
 */
async function launched(user, wanted) {
  await user.press("Control+1", "F5");
  return wanted.first().waitFor({ timeout: 5_000 }).then(() => true, () => false);
}

/**
 * @param {{folder: string, program: string, compiler: string}} options
 * @returns {{title: string, act: (user: import("./workbench.mjs").User) => Promise<void>}[]}
 */
export function homeScenario({ folder, program, compiler }) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, ".vscode"), { recursive: true });
  const write = (name, text) => writeFileSync(join(folder, name), text);
  write("numbers.mlir", NUMBERS);
  write("wrong.mlir", WRONG);
  write("layer.mlir", LAYER);
  // Over 50 MB, which VS Code keeps from extensions.
  const long = `util.global private @w = dense<"0x${"00".repeat(26 << 20)}"> : tensor<6815744xf32>\n`;
  write("big.mlir", `${long}func.func @"in big"(%a: i32) -> i32 {\n  %0 = arith.addi %a, %a : i32\n  return %0 : i32\n}\n`);
  write("plain.mlir", `func.func @first(%a: i32) -> i32 {
  %0 = arith.muli %a, %a : i32
  return %0 : i32
}
func.func @second(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  return %0 : i32
}
`);
  execFileSync(
    compiler,
    [
      join(folder, "plain.mlir"), "--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx",
      "--iree-vm-bytecode-module-strip-source-map=true", "-o", join(folder, "plain.vmfb"),
    ],
  );
  const settings = join(folder, ".vscode/settings.json");
  return [
    {
      title: "a missing iree-compile is told before any question, with ways out",
      async act(user) {
        await user.open("layer.mlir");
        await user.page.locator(".codelens-decoration", { hasText: "Debug" }).first().waitFor();
        await user.press("Control+1", "F5");
        const message = await user.notification("iree-compile is needed to compile layer.mlir");
        const buttons = await message.locator(".monaco-button").allInnerTexts();
        for (const wanted of ["Choose…", "Install into .venv", "Settings"]) {
          if (!buttons.some((text) => text.trim() === wanted)) {
            throw new Error(`no button ${wanted}: ${buttons}`);
          }
        }
      },
    },
    {
      title: "its settings are one click away",
      async act(user) {
        await user.answerNotification("iree-compile is needed", "Settings");
        await user.activeTab("Settings");
        await user.page.locator(".settings-editor .setting-item-label", { hasText: "Iree Compile" }).first().waitFor();
        await user.closeAllEditors();
      },
    },
    {
      title: "a compiler that is named but cannot run is told by the name of the setting",
      async act(user) {
        writeFileSync(settings, JSON.stringify({ "iree-dbg.ireeCompile": "${workspaceFolder}/none" }));
        await user.open("layer.mlir");
        await eventually(
          "the setting to be read",
          () => launched(user, user.page.locator(".notification-list-item", { hasText: 'The setting "Iree Compile" names' })),
          Boolean,
        );
        writeFileSync(settings, JSON.stringify({ "iree-dbg.ireeCompile": compiler }));
        await user.clearNotifications();
      },
    },
    {
      title: "the form for arguments proposes, and checks what is typed",
      async act(user) {
        await eventually(
          "the form",
          () => launched(user, user.page.locator(".tab", { hasText: "Arguments of @layer" })),
          Boolean,
        );
        await user.clearNotifications().catch(() => undefined);
        const form = await user.argumentForm("@layer");
        const field = form.getByRole("textbox", { name: "%x" });
        await eventually("zeros of the type", () => field.inputValue(), (text) => text === "1x8xf32=0");
        await field.fill("banana");
        await form.getByText("A tensor is needed here, such as 1x8xf32=0, or @file.npy").waitFor();
        await field.fill("3x9xf32=0");
        await form.getByText("Axis 1 has the size 8, not 9").waitFor();
        await isAccessible(user, form);
        await keysReachAll(user, form);
      },
    },
    {
      title: "random numbers keep the size that was typed, and Enter starts",
      async act(user) {
        const form = await user.argumentForm("@layer");
        const field = form.getByRole("textbox", { name: "%x" });
        await field.fill("3x8xf32=0");
        await form.getByText("Random", { exact: true }).click();
        await eventually("a random tensor", () => field.inputValue(), (text) => text === "3x8xf32=random(1)");
        await field.press("Enter");
        await user.debugConsoleHas("3x8xf32=[");
        await user.debuggingEnds();
      },
    },
    {
      title: "the run button takes the last arguments",
      async act(user) {
        await user.press("Control+1", "F5");
        const form = await user.argumentForm("@layer");
        const field = form.getByRole("textbox", { name: "%x" });
        await eventually("the last argument", () => field.inputValue(), (text) => text === "3x8xf32=random(1)");
        await field.press("Escape");
        await user.page.locator(".tab", { hasText: "Arguments of" }).waitFor({ state: "detached" });
        // Nothing shows when VS Code has given up the launch; until then, F5 would begin that one again.
        await user.page.waitForTimeout(3000);
      },
    },
    {
      title: "F5 takes the function under the cursor, of any dialect and name",
      async act(user) {
        await user.closeAllEditors();
        await user.open("numbers.mlir");
        await user.goToLine(10);
        await user.press("F5");
        await user.giveArguments("@triple", { "%i": "5" });
        await user.debugConsoleHas("i32=15");
        await user.debuggingEnds();
      },
    },
    {
      title: "and remembers it where the cursor is in none",
      async act(user) {
        await user.goToLine(1);
        await user.press("F5");
        const form = await user.argumentForm("@triple");
        await form.locator("select").selectOption("odd name");
        await eventually("the form of the other function", () => form.locator("select").inputValue(), (it) => it === "odd name");
        await form.getByRole("textbox", { name: "%i" }).fill("8");
        await form.locator("button.primary").click();
        await user.debugConsoleHas("i32=16");
        await user.debuggingEnds();
      },
    },
    {
      title: "a file over 50 MB is debugged with F5",
      async act(user) {
        await user.closeAllEditors();
        await user.choose("big.mlir");
        await user.activeTab("big.mlir");
        await user.press("F5");
        // VS Code shows no text of such a file, so it asks.
        await user.page.locator(".quick-input-widget .monaco-list-row", { hasText: "IREE VM" }).first().click();
        await user.giveArguments("@in big", { "%a": "21" });
        await user.debugConsoleHas("i32=42");
        await user.debuggingEnds();
      },
    },
    {
      title: "an error of the compiler is a problem with a place, and no dialog",
      async act(user) {
        await user.closeAllEditors();
        await user.clearNotifications().catch(() => undefined);
        await user.open("wrong.mlir");
        await user.press("F5");
        await user.giveArguments("@wrong", {});
        await user.notification("type of return operand 0");
        if ((await user.page.locator(".monaco-dialog-box").count()) > 0) {
          throw new Error("there is a dialog");
        }
        await user.problemsHave("type of return operand 0");
        await user.page.locator(".editor-instance .squiggly-error").first().waitFor();
      },
    },
    {
      title: "Go to Error leads there",
      async act(user) {
        await user.answerNotification("type of return operand 0", "Go to Error");
        await eventually("the cursor at the error", () => user.cursor(), (text) => text.startsWith("Ln 3,"));
      },
    },
    {
      title: "a module without debug information says so, what that means for breakpoints, and how to get it",
      async act(user) {
        await user.closeAllEditors();
        await user.clearNotifications().catch(() => undefined);
        await user.open("plain.mlir");
        await user.goToLine(6);
        await user.toggleBreakpoint();
        await user.openDisassembly("plain.vmfb");
        await user.press("F5");
        await user.page.locator(".quick-input-widget .monaco-list-row", { hasText: "@second" }).first().click();
        await user.giveArguments("@second", { "%input0": "4" });
        await user.notification("The breakpoint at plain.mlir:6 cannot be hit.");
      },
    },
    {
      title: "Compile for Debugging debugs its source",
      async act(user) {
        await user.answerNotification("plain.vmfb has no debug information", "Compile for Debugging");
        await user.stoppedIn("arith.addi %a, %a");
        await user.press("F5", "Control+Shift+Y");
        await user.debugConsoleHas("i32=8");
        await user.debuggingEnds();
      },
    },
    {
      title: "a breakpoint that cannot be hit says why",
      async act(user) {
        await user.removeAllBreakpoints();
        await user.goToLine(8);
        await user.toggleBreakpoint();
        await user.goToLine(6);
        await user.press("F5");
        await user.giveArguments("@second", { "%a": "4" });
        await user.answerNotification("The breakpoint at plain.mlir:8 cannot be hit", "Show It");
        await eventually("the cursor there", () => user.cursor(), (text) => text.startsWith("Ln 8,"));
        await user.removeAllBreakpoints();
      },
    },
    {
      title: "a fresh launch.json has one entry",
      async act(user) {
        await user.closeAllEditors();
        await user.open("plain.mlir");
        await user.command("Debug: Add Configuration...");
        await user.activeTab("launch.json");
        const text = await eventually(
          "the file",
          () => { try { return readFileSync(join(folder, ".vscode/launch.json"), "utf8"); } catch { return ""; } },
          (seen) => seen.includes('"type": "iree"'),
        );
        if (text.split('"type": "iree"').length !== 2) {
          throw new Error(text);
        }
      },
    },
  ];
}
