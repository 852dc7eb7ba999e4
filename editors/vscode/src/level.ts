// The button for the level of a stopped program: the model, the source, the VM program that the compiler made from it,
// or the instructions. A command in the debugger's console changes it; then VS Code asks again for stacks and variables.

import * as vscode from "vscode";
import { tellFailure } from "./failures";
import { say } from "./past";

const LEVELS = [
  { label: "python", description: "the Python that made the model: one step is one operation" },
  { label: "model", description: "the source as a program of tensors: one step is one operation" },
  { label: "source", description: "every line of the source that code runs for" },
  { label: "vm", description: "the VM program that the compiler made of it" },
  { label: "disassembly", description: "instructions" },
];

export function registerLevel(): vscode.Disposable {
  return vscode.commands.registerCommand("iree-dbg.level", chooseLevel);
}

/** Keybindings and other extensions may name the level; otherwise the user chooses it. */
async function chooseLevel(named?: unknown): Promise<void> {
  const session = vscode.debug.activeDebugSession;
  if (session?.type !== "iree") {
    void vscode.window.showErrorMessage("No program is being debugged.");
    return;
  }
  await tellFailure(async () => {
    const level = typeof named === "string" ? named : await ask(await say(session, "level"));
    if (level !== undefined) {
      await say(session, `level ${level}`);
    }
  });
}

async function ask(current: string): Promise<string | undefined> {
  const items = LEVELS.map((level) => ({ ...level, picked: level.label === current }));
  const marked = items.map((item) => (item.picked ? { ...item, detail: "current" } : item));
  const picked = await vscode.window.showQuickPick(marked, { placeHolder: "Show and step the program as …" });
  return picked?.label;
}
