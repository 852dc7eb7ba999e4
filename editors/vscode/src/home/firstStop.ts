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
      "The program stands at a line. The button in a tensor's row shows it as a picture. The layers in the debug toolbar" +
      " show the program as a model, as its source, as the VM program or as instructions.",
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
