// The digits of long constants are kept out of sight: those beside an operation are hidden but for the first few, and the
// resources at the end of a file are folded.
//
// VS Code wraps all lines of a file that is mostly long lines, whatever its settings say, so a constant of a megabyte would
// take thousands of lines of the screen, hidden digits or not. There, wrapping is turned off once, as Alt+Z does.

import * as vscode from "vscode";
import { SECTION } from "./binary";
import { digitsIn } from "./hexDigits";

/** What VS Code takes for a long line, in characters. */
const LONG_LINE = 10_000;
/** The most lines that are looked at for constants. */
const MOST_LINES = 200_000;

export function registerFoldedConstants(): vscode.Disposable {
  const folded = new FoldedConstants();
  return vscode.Disposable.from(
    folded,
    vscode.window.onDidChangeActiveTextEditor((editor) => void (editor && folded.begin(editor))),
    vscode.window.onDidChangeVisibleTextEditors(() => folded.hideAll()),
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      // What is hidden moves with the text; only what is new has to be looked for.
      if (contentChanges.some(({ text }) => text.includes('"0x'))) {
        folded.hideIn(document);
      }
    }),
    vscode.workspace.onDidCloseTextDocument((document) => folded.forget(document)),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration(`${SECTION}.foldConstants`) && folded.hideAll()),
  );
}

class FoldedConstants implements vscode.Disposable {
  private readonly hidden = vscode.window.createTextEditorDecorationType({
    textDecoration: "none; display: none",
    after: { contentText: "…", color: new vscode.ThemeColor("editorCodeLens.foreground") },
  });
  /** The documents whose folding has begun: what a user unfolds stays so. */
  private readonly begun = new WeakSet<vscode.TextDocument>();

  constructor() {
    this.hideAll();
    const editor = vscode.window.activeTextEditor;
    if (editor !== undefined) {
      void this.begin(editor);
    }
  }

  /** Folds the resources of a document that is shown for the first time. The commands are those of the active editor. */
  async begin({ document }: vscode.TextEditor): Promise<void> {
    if (!isWanted() || document.languageId !== "mlir" || this.begun.has(document)) {
      return;
    }
    this.begun.add(document);
    const { resources, isMostlyLongLines } = looksOf(document);
    if (isMostlyLongLines && vscode.workspace.getConfiguration("editor", document).get("wordWrap") === "off") {
      await vscode.commands.executeCommand("editor.action.toggleWordWrap");
    }
    if (resources !== undefined) {
      await vscode.commands.executeCommand("editor.fold", { levels: 1, direction: "up", selectionLines: [resources] });
    }
  }

  forget(document: vscode.TextDocument): void {
    this.begun.delete(document);
  }

  hideAll(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      this.hide(editor);
    }
  }

  hideIn(document: vscode.TextDocument): void {
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document === document) {
        this.hide(editor);
      }
    }
  }

  private hide(editor: vscode.TextEditor): void {
    if (editor.document.languageId === "mlir") {
      editor.setDecorations(this.hidden, isWanted() ? digitsOf(editor.document) : []);
    }
  }

  dispose(): void {
    this.hidden.dispose();
  }
}

const isWanted = (): boolean => vscode.workspace.getConfiguration(SECTION).get("foldConstants", true);

/** The line of the resources, if there are any; and whether VS Code wraps the lines of a document. */
function looksOf(document: vscode.TextDocument): { resources: number | undefined; isMostlyLongLines: boolean } {
  let resources: number | undefined;
  let [long, short] = [0, 0];
  for (let line = 0; line < document.lineCount; line++) {
    const { text } = document.lineAt(line);
    if (text.length >= LONG_LINE) {
      long += text.length;
    } else {
      short += text.length;
    }
    if (text.startsWith("{-#")) {
      resources = line;
    }
  }
  return { resources, isMostlyLongLines: long > short };
}

/** The digits that are hidden. */
function digitsOf(document: vscode.TextDocument): vscode.Range[] {
  const found: vscode.Range[] = [];
  for (let line = 0; line < Math.min(document.lineCount, MOST_LINES); line++) {
    found.push(...digitsIn(document.lineAt(line).text).map(([from, to]) => new vscode.Range(line, from, line, to)));
  }
  return found;
}
