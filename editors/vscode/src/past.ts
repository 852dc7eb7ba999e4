// Where a value comes from: the menu of a row in Variables, of a name in the text, or of an element in the view of a tensor.
// Who has written it: a recorded program goes back to before that write. Why it is NaN or infinite: the program stays where it
// is. Both are commands of the debugger's console, which says what they found. So is the dispatch that has just run, again. What
// a number is made of has a view of its own.

import * as vscode from "vscode";
import { tellFailure } from "./failures";
import { Origins } from "./origins";
import type { VariableRow } from "./tensors/session";
import { expressionOf, valueAt } from "./valueNames";

/** What the view of a tensor passes, as its page has it in `data-vscode-context`. */
interface Element {
  readonly expression: string;
  readonly session: string;
}

export function registerPast(): vscode.Disposable {
  const origins = new Origins();
  return vscode.Disposable.from(
    origins,
    vscode.commands.registerCommand("iree-dbg.madeOf", (what?: VariableRow | Element) =>
      ask(what, (session, expression) => origins.ask(session, expression)),
    ),
    vscode.commands.registerCommand("iree-dbg.whoWrote", (what?: VariableRow | Element) => ask(what, goToWriter)),
    vscode.commands.registerCommand("iree-dbg.whyNaN", (what?: VariableRow | Element) => ask(what, tellStory)),
    vscode.commands.registerCommand("iree-dbg.rerun", runAgain),
    vscode.commands.registerCommand("iree-dbg.record", record),
  );
}

type Question = (session: vscode.DebugSession, expression: string) => Promise<void>;

async function ask(what: VariableRow | Element | undefined, question: Question): Promise<void> {
  const session = vscode.debug.activeDebugSession;
  const expression = expressionOfChoice(what);
  if (session?.type !== "iree" || typeof expression !== "string") {
    void vscode.window.showErrorMessage("Pause a program, then choose a value in Variables, a name in the source, or an element of a tensor.");
    return;
  }
  if (what !== undefined && "session" in what && what.session !== session.id) {
    void vscode.window.showErrorMessage(`${expression} belongs to another session; choose that one in the debug toolbar.`);
    return;
  }
  await tellFailure(() => question(session, expression));
}

async function goToWriter(session: vscode.DebugSession, expression: string): Promise<void> {
  // The console answers before it goes back, so a failure would only be read there.
  const { isRecorded }: { readonly isRecorded?: boolean } = await session.customRequest("iree/runMap", {});
  if (isRecorded !== true) {
    return await offerToRecord(session);
  }
  await say(session, `who-wrote ${expression}`);
}

/** Tells in the console where something comes from: `nan`, or a value. Each sentence names a line, which the console makes a link. */
export async function tellStory(session: vscode.DebugSession, what: string): Promise<void> {
  // VS Code shows only answers to what the user has typed.
  vscode.debug.activeDebugConsole.appendLine(await say(session, `why ${what}`));
  await vscode.commands.executeCommand("workbench.debug.action.focusRepl");
}

/** The console compares what the dispatch leaves now with what it had left. */
async function runAgain(): Promise<void> {
  const session = vscode.debug.activeDebugSession;
  if (session?.type !== "iree") {
    void vscode.window.showErrorMessage("To run a dispatch again, first stop after one: set a function breakpoint on dispatch:NAME, then Step Out.");
    return;
  }
  await tellFailure(async () => {
    await session.customRequest("iree/rerun", {});
    await vscode.commands.executeCommand("workbench.debug.action.focusRepl");
  });
}

/** From here on, the program is recorded. */
async function record(): Promise<void> {
  const session = vscode.debug.activeDebugSession;
  if (session?.type === "iree") {
    await tellFailure(() => recordFromHere(session));
  }
}

async function recordFromHere(session: vscode.DebugSession): Promise<void> {
  await say(session, "record");
  // VS Code shows the buttons for going back once a frame is selected.
  await vscode.commands.executeCommand("workbench.action.debug.callStackTop");
}

/** Tells that it cannot go back, with ways out. */
async function offerToRecord(session: vscode.DebugSession): Promise<void> {
  const [restart, here] = ["Record and Restart", "Record from Here"];
  const chosen = await vscode.window.showErrorMessage("The program is not recorded, so it cannot go back.", restart, here);
  if (chosen === here) {
    await recordFromHere(session);
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

/** Has the console perform a line. Returns its answer. */
export async function say(session: vscode.DebugSession, line: string): Promise<string> {
  const frame = vscode.debug.activeStackItem;
  const frameId = frame instanceof vscode.DebugStackFrame && frame.session === session ? frame.frameId : undefined;
  const { result }: { readonly result: string } = await session.customRequest("evaluate", { expression: `\`${line}`, context: "repl", frameId });
  return result;
}
