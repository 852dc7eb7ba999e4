// A program that ends with wrong results: the notification leads to where that began, whether the program is recorded or not.
// Line numbers are those of runtime/cli/example/classifier.mlir, whose softmax overflows for inputs of 9.

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./workbench.mjs";

/** The division of infinity by infinity. */
const DIVISION = 59;

/**
 * @param {{folder: string, example: string, program: string}} options
 * @returns {{title: string, image?: string, act: (user: import("./workbench.mjs").User) => Promise<void>}[]}
 */
export function verdictScenario({ folder, example, program }) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, ".vscode"), { recursive: true });
  copyFileSync(example, join(folder, "classifier.mlir"));
  const configure = (more) => {
    const configuration = { type: "iree", request: "launch", name: "Classify", program: "${workspaceFolder}/classifier.mlir", ...more };
    writeFileSync(join(folder, ".vscode/launch.json"), JSON.stringify({ version: "0.2.0", configurations: [configuration] }));
  };
  configure({ inputs: ["1x16xf32=9"] });
  const saved = join(folder, "saved");
  const run = async (user) => {
    await user.clearNotifications();
    await user.press("Control+1", "F5");
  };
  const recordButton = (user) => user.page.locator(".debug-toolbar .action-label[aria-label^='Record from Here']");
  return [
    {
      title: "a result with NaN leads to the operation that has made it",
      image: "cause",
      animation: "cause",
      async act(user) {
        await user.open("classifier.mlir");
        await user.page.locator(".codelens-decoration", { hasText: "Debug" }).first().waitFor();
        await user.frame(1.5);
        await user.press("F5");
        await user.stoppedAt(62);
        await user.notification("Result 0 has 4 NaN among 4 elements.");
        await user.frame(2.5);
        await user.answerNotification("Result 0 has 4 NaN among 4 elements.", "Go to the Cause");
        await user.stoppedAt(DIVISION);
        await user.page.locator(".exception-widget", { hasText: "%p = arith.divf %x, %sum is NaN" }).waitFor();
        const view = await user.webview("#stage canvas");
        await view.locator("#at", { hasText: "%exponentials[0, 0] = inf" }).waitFor();
        await user.frame(4);
        // Programs are recorded from the beginning.
        await user.page.locator(".debug-toolbar .codicon-debug-step-back").first().waitFor();
        if (await recordButton(user).isVisible()) {
          throw new Error("a recorded program is to be recorded");
        }
      },
    },
    {
      title: "this stop is saved for someone else, who opens it in a terminal",
      async act(user) {
        mkdirSync(saved, { recursive: true });
        await user.command("IREE: Save This Stop for Someone Else…");
        await user.answerFolder(saved, "Save Stop Here");
        await user.notification("Saved this stop in");
        const [command] = /^iree-dbg .*$/m.exec(readFileSync(join(saved, "classifier-stop/README.md"), "utf8"));
        const arguments_ = `${command.replace("iree-dbg", `'${program}'`)} --batch`;
        const said = execFileSync("sh", ["-c", arguments_], { cwd: join(saved, "classifier-stop"), encoding: "utf8" });
        if (!said.includes(`${DIVISION}\t    %p = arith.divf %x, %sum : f32`)) {
          throw new Error(`it is opened elsewhere: ${said}`);
        }
        await user.clearNotifications();
      },
    },
    {
      title: "and on, to its end, and over",
      async act(user) {
        await user.closeTensor("%exponentials");
        await user.press("Control+1", "F5");
        await user.stoppedAt(62);
        await user.press("F5");
        await user.debuggingEnds();
      },
    },
    {
      title: "a program that is not recorded is started again, and goes there by itself",
      async act(user) {
        configure({ inputs: ["1x16xf32=9"], record: false });
        await run(user);
        await user.answerNotification("Result 0 has 4 NaN among 4 elements.", "Go to the Cause");
        await user.stoppedAt(DIVISION);
        await user.webview("#stage canvas");
        await user.closeTensor("%exponentials");
        await user.press("Shift+F5");
        await user.debuggingEnds();
      },
    },
    {
      title: "the saved stop is opened in VS Code",
      async act(user) {
        const [launch] = JSON.parse(readFileSync(join(saved, "classifier-stop/.vscode/launch.json"), "utf8")).configurations;
        const moved = JSON.parse(JSON.stringify(launch).replaceAll("${workspaceFolder}", join(saved, "classifier-stop")));
        writeFileSync(join(folder, ".vscode/launch.json"), JSON.stringify({ version: "0.2.0", configurations: [{ ...moved, name: "Classify" }] }));
        await run(user);
        await eventually("the stop", () => user.cursor(), (text) => text.startsWith(`Ln ${DIVISION},`));
        await user.page.locator(".debug-toolbar .codicon-debug-step-back").first().waitFor();
        await user.press("Shift+F5");
        await user.debuggingEnds();
        await user.open("classifier.mlir");
      },
    },
    {
      title: "NaN of an input has no operation: the console says where it comes from",
      async act(user) {
        configure({ inputs: ["1x16xf32=nan"] });
        await run(user);
        await user.answerNotification("Result 0 has 4 NaN among 4 elements.", "Go to the Cause");
        await user.debugConsoleHas("it comes from an input or from a constant");
        await user.debugConsoleHas("%image");
        await user.press("Shift+F5");
        await user.debuggingEnds();
      },
    },
    {
      title: "results that are not expected, and no dispatch that is wrong",
      async act(user) {
        configure({ inputs: ["1x16xf32=1"], expected: ["1x4xf32=0"] });
        await run(user);
        await user.answerNotification("The results are not the expected ones.", "Go to the Cause");
        await user.debugConsoleHas("each dispatch has left what its text means");
        await user.press("Shift+F5");
        await user.debuggingEnds();
      },
    },
    {
      title: "the expected results end the program; Record is a button where it is not recorded",
      async act(user) {
        configure({ inputs: ["1x16xf32=1"], record: false, stopOnEntry: true });
        await run(user);
        await recordButton(user).waitFor();
        await recordButton(user).click();
        await user.page.locator(".debug-toolbar .codicon-debug-step-back").first().waitFor();
        await user.press("Shift+F5");
        await user.debuggingEnds();
        configure({ inputs: ["1x16xf32=1"] });
        await run(user);
        await user.debugConsoleHas("EXEC @classify");
        await user.debuggingEnds();
      },
    },
  ];
}
