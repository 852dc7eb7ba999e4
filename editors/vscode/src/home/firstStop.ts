// What there is to do at a stop, said at the first one that a user ever has.

import * as vscode from "vscode";
import { SECTION } from "../binary";
import { openWalkthrough } from "./actions";

const KEY = "has stopped";

export function registerFirstStop(memory: vscode.Memento): vscode.Disposable {
  const tell = async (): Promise<void> => {
    if (memory.get(KEY) === true || !vscode.workspace.getConfiguration(SECTION).get("tips", true)) {
      return;
    }
    await memory.update(KEY, true);
    const [level, more] = ["Choose Level", "Show Me More"];
    const answer = await vscode.window.showInformationMessage(
      "Paused. Click the grid icon next to a tensor to view it. The layers icon in the debug toolbar shows the program as a" +
      " model, as source, as the VM program, or as instructions.",
      level, more,
    );
    if (answer === level) {
      await vscode.commands.executeCommand("iree-dbg.level");
    } else if (answer === more) {
      await openWalkthrough();
    }
  };
  // VS Code selects a frame at each stop.
  return vscode.debug.onDidChangeActiveStackItem((item) => {
    if (item instanceof vscode.DebugStackFrame && item.session.type === "iree") {
      void tell();
    }
  });
}
