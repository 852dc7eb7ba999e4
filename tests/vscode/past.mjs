// A recorded session: from NaN in the result back to the operation that made what it was made of, by menu and buttons, in the
// text, in the view of a tensor, and in the graph.
// Line numbers are those of runtime/cli/example/classifier.mlir, whose softmax overflows for this input.

import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./workbench.mjs";

/**
 * @param {{folder: string, example: string}} options
 * @returns {{title: string, image?: string, act: (user: import("./workbench.mjs").User) => Promise<void>}[]}
 */
export function pastScenario({ folder, example }) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, ".vscode"), { recursive: true });
  copyFileSync(example, join(folder, "classifier.mlir"));
  const configuration = {
    type: "iree", request: "launch", name: "Recorded", program: "${workspaceFolder}/classifier.mlir",
    inputs: ["1x16xf32=9"], record: true,
  };
  writeFileSync(join(folder, ".vscode/launch.json"), JSON.stringify({ version: "0.2.0", configurations: [configuration] }));
  /** Puts the cursor into a name of a line, some characters after the first word begins. */
  const pointAt = async (user, line, characters) => {
    await user.goToLine(line);
    await user.press("Home", ...Array.from({ length: characters }, () => "ArrowRight"));
    const column = (text) => Number(/Col (\d+)/.exec(text)?.[1]);
    // A busy editor loses keys.
    let last = "";
    const cursor = async () => {
      const text = await user.cursor();
      if (text === last && column(text) <= characters) {
        await user.press("ArrowRight");
      }
      last = text;
      return text;
    };
    await eventually(`the cursor ${characters} characters into line ${line}`, cursor, (text) => column(text) > characters);
  };
  /** Moves the pointer over the time line to the command of which the tip says this, and acts there. */
  const pointInTime = async (user, view, said, act) => {
    const line = await view.locator("#time").boundingBox();
    const tip = view.locator("#tip");
    const y = line.y + line.height / 2;
    const seen = new Set();
    for (let x = line.x + 16; x < line.x + line.width - 16; x += 2) {
      await user.page.mouse.move(x, y);
      const text = (await tip.isVisible()) ? await tip.innerText() : "nothing";
      seen.add(text);
      if (said.test(text)) {
        return act({ x, y });
      }
    }
    throw new Error(`no command of the time line is ${said}; seen: ${[...seen].join(" | ")}`);
  };
  let view;
  /** Waits until Variables show a value of this moment, and one that comes later is gone. */
  const variablesAre = async (user, shown, later) => {
    const rows = user.page.locator(".debug-variables .monaco-list-row");
    await rows.filter({ hasText: shown }).first().waitFor();
    await rows.filter({ hasText: later }).first().waitFor({ state: "detached" });
  };
  const button = (user, icon) => user.page.locator(`.debug-toolbar .codicon-debug-${icon}`).first();
  return [
    {
      title: "a recorded program stops at its end, and its buttons go back",
      async act(user) {
        await user.open("classifier.mlir");
        await user.page.locator(".codelens-decoration", { hasText: "Debug" }).first().waitFor();
        await user.press("F5");
        await user.page.locator(".debug-toolbar").waitFor();
        await user.debugConsoleHas("NAN");
        await user.stoppedAt(62);
        await button(user, "step-back").waitFor();
        await button(user, "reverse-continue").waitFor();
      },
    },
    {
      title: "the view of a tensor leads from NaN to the dispatch that has made it",
      async act(user) {
        await user.openTensor("%probabilities");
        view = await user.webview("#stage canvas");
        const at = () => view.locator("#at").innerText();
        await eventually("the first element", at, (text) => text.startsWith("%probabilities[0, 0] = "));
        await view.locator("#stage").focus();
        await user.press("n");
        await eventually("the next NaN", at, (text) => /^%probabilities\[0, 1\] = -?nan$/i.test(text));
        await view.locator("#who-wrote").click();
        await user.stoppedAt(52);
        await user.debugConsoleHas("%probabilities[0, 1] was written by classify, command 4");
        await view.locator("#place", { hasText: "at classifier.mlir:52" }).waitFor();
        await view.locator(".message").waitFor();
        await variablesAre(user, /out %probabilities =\s*<not yet computed>/, /%probabilities =\s*1x4xf32/);
      },
    },
    {
      title: "so does the menu of an element",
      async act(user) {
        await user.press("F5");
        await user.stoppedAt(62);
        const canvas = view.locator("#stage canvas");
        await canvas.waitFor();
        const { width, height } = await canvas.boundingBox();
        // The third of four elements in a row.
        await canvas.click({ button: "right", position: { x: width * 0.6, y: height / 2 } });
        await user.pickInMenu("Go to Who Wrote This");
        await user.stoppedAt(52);
        await user.debugConsoleHas("%probabilities[0, 2] was written by classify, command 4");
        await user.closeTensor("%probabilities");
        await user.press("Control+1", "F5");
        await user.stoppedAt(62);
      },
    },
    {
      title: "Go to Who Wrote This leads to the dispatch that has made the NaN",
      async act(user) {
        await pointAt(user, 62, 10);
        await user.command("IREE: Go to Who Wrote This");
        await user.stoppedAt(52);
      },
    },
    {
      title: "from there it leads on, to what the NaN was made of",
      image: "past",
      async act(user) {
        await pointAt(user, 57, 9);
        await user.command("IREE: Go to Who Wrote This");
        await user.stoppedAt(30);
        await user.debugConsoleHas("%exponentials was written by classify, command 2");
        // Without the console, which names files by their paths.
        await user.press("Control+J");
        await user.page.locator(".debug-variables .monaco-list-row", { hasText: "in %hidden" }).first().waitFor();
      },
    },
    {
      title: "Why Is This NaN or Infinite? answers in the console",
      async act(user) {
        await user.press("F5");
        await user.stoppedAt(62);
        await pointAt(user, 62, 10);
        await user.command("IREE: Why Is This NaN or Infinite?");
        await user.debugConsoleHas("%exponentials");
        await user.debugConsoleHas("of 4 are NaN");
        await user.press("Control+1");
        await pointAt(user, 57, 9);
        await user.command("IREE: Go to Who Wrote This");
        await user.stoppedAt(30);
      },
    },
    {
      title: "Step Back and Reverse",
      async act(user) {
        await button(user, "step-back").click();
        await user.stoppedAt(16);
        await user.page.locator(".debug-toolbar .codicon-debug-step-over").first().click();
        await user.stoppedAt(30);
        await button(user, "reverse-continue").click();
        await user.stoppedAt(5);
      },
    },
    {
      title: "What Is This Made Of? is a tree, and its rows lead to where they were made",
      image: "made-of",
      async act(user) {
        await user.press("F5");
        await user.stoppedAt(62);
        await pointAt(user, 30, 32);
        await user.command("IREE: What Is This Made Of?");
        await user.page.locator(".quick-input-widget", { hasText: "Which element of %hidden?" }).waitFor();
        await user.page.keyboard.type("0, 1");
        await user.press("Enter");
        const row = (text) => user.page.locator(".pane", { hasText: "Made Of" }).locator(".monaco-list-row", { hasText: text }).first();
        await row("%hidden[0, 1] = 72").waitFor();
        await row("made of 2 elements").waitFor();
        await row("%sum1[0, 1] = 72").locator(".monaco-tl-twistie").click();
        await row("4.5 (6.3 %)").waitFor();
        await row("… 13 smaller terms").waitFor();
        await row("%hidden[0, 1] = 72").click();
        await user.stoppedAt(16);
        await variablesAre(user, /out %hidden =\s*<not yet computed>/, /%probabilities =\s*1x4xf32/);
        // The tree stays as it was.
        await row("%sum1[0, 1] = 72").waitFor();
        // Without the console, which names files by their paths.
        await user.press("Control+J");
      },
    },
    {
      title: "a double click in the time line of the graph goes to before a command",
      async act(user) {
        await user.press("F5");
        await user.stoppedAt(62);
        await user.page.locator(".debug-toolbar .action-label[aria-label^='Dispatch Graph']").click();
        view = await user.webview("#time");
        await view.locator("aside dd", { hasText: "4 of 4" }).waitFor();
        await pointInTime(user, view, /^command 2: %exponentials .*; double click goes there$/, ({ x, y }) => user.page.mouse.dblclick(x, y));
        await user.stoppedAt(30);
        await user.page.getByText("Paused on step").first().waitFor();
        await view.locator("aside dd", { hasText: "running now" }).waitFor();
        await eventually("what has run", () => view.locator("#overlay").innerText(), (text) => text.startsWith("1 command has run"));
        await variablesAre(user, /out %exponentials =\s*<not yet computed>/, /%probabilities =\s*1x4xf32/);
      },
    },
    {
      title: "Go There goes to before the last run of a box",
      async act(user) {
        await view.locator("#search").fill("hidden");
        await view.locator("#search").press("Enter");
        await view.locator("aside h2.selected", { hasText: "%hidden" }).waitFor();
        await view.locator("aside button", { hasText: "Go There" }).click();
        await user.stoppedAt(16);
        await view.locator("aside dd", { hasText: "running now" }).waitFor();
        await view.locator("aside button", { hasText: "Go There" }).waitFor({ state: "detached" });
      },
    },
  ];
}
