// Who has written a value: the menu of a row in Variables, of a name in the text, or of an element in the view of a tensor. A
// recorded program goes back to before that write, by a command of the debugger's console, which says what it was.

import * as vscode from "vscode";
import type { VariableRow } from "./tensors/session";
import { expressionOf, valueAt } from "./valueNames";

/** What the view of a tensor passes, as its page has it in `data-vscode-context`. */
interface Element {
  readonly expression: string;
  readonly session: string;
}

export function registerPast(): vscode.Disposable {
  return vscode.commands.registerCommand("iree-dbg.whoWrote", (what?: VariableRow | Element) => goToWriter(what));
}

async function goToWriter(what: VariableRow | Element | undefined): Promise<void> {
  const session = vscode.debug.activeDebugSession;
  const expression = expressionOfChoice(what);
  if (session?.type !== "iree" || typeof expression !== "string") {
    void vscode.window.showErrorMessage("Stop a program, and choose a value in Variables, a name in its source, or an element of a tensor.");
    return;
  }
  if (what !== undefined && "session" in what && what.session !== session.id) {
    void vscode.window.showErrorMessage(`${expression} belongs to another session; choose that one in the debug toolbar.`);
    return;
  }
  try {
    // The console answers before it goes back, so a failure would only be read there.
    const { isRecorded }: { readonly isRecorded?: boolean } = await session.customRequest("iree/runMap", {});
    if (isRecorded !== true) {
      return await offerToRecord(session);
    }
    await say(session, `who-wrote ${expression}`);
  } catch (error) {
    void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
  }
}

/** Tells that it cannot go back, with ways out. */
async function offerToRecord(session: vscode.DebugSession): Promise<void> {
  const [restart, here] = ["Record and Restart", "Record from Here"];
  const chosen = await vscode.window.showErrorMessage("The program is not recorded, so it cannot go back.", restart, here);
  if (chosen === here) {
    await say(session, "record");
  } else if (chosen === restart) {
    const { workspaceFolder, configuration } = session;
    await vscode.debug.stopDebugging(session);
    await vscode.debug.startDebugging(workspaceFolder, { ...configuration, record: true });
  }
}

function expressionOfChoice(what: VariableRow | Element | undefined): string | undefined {
  if (what !== undefined && "expression" in what) {
    return what.expression;
  }
  return what?.variable?.evaluateName ?? what?.variable?.name ?? nameAtCursor();
}

function nameAtCursor(): string | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    return undefined;
  }
  const { document, selection } = editor;
  const { languageId } = document;
  const value = valueAt(document.lineAt(selection.active).text, selection.active.character, languageId);
  return value === undefined ? undefined : expressionOf(value);
}

async function say(session: vscode.DebugSession, line: string): Promise<void> {
  const frame = vscode.debug.activeStackItem;
  const frameId = frame instanceof vscode.DebugStackFrame && frame.session === session ? frame.frameId : undefined;
  await session.customRequest("evaluate", { expression: `\`${line}`, context: "repl", frameId });
}
