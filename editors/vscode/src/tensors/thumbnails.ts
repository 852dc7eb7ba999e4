// Small pictures of tensors beside their definitions while a program is stopped: those in the visible lines above the stop.
//
// They are asked for one after another once the program has stood still for a moment, so stepping never waits for them, and
// what goes on meanwhile ends the asking.

import * as vscode from "vscode";
import type { Cells, Question } from "../../views/tensor/answers";
import { SECTION } from "../binary";
import { expressionOf, type ValueName } from "../valueNames";
import { definedIn } from "../values";
import { frameOf, tensorAt } from "./session";
import { thumbnail } from "./thumbnail";

/** Their size, in pixels. */
const CELLS: NonNullable<Question["cells"]> = { height: 12, width: 40, reduction: "mean" };
/** How long the program has to stand still, in milliseconds. */
const PATIENCE = 300;
/** The most pictures of an editor, and the most frames among which the selected one is looked for. */
const [MOST, MOST_FRAMES] = [40, 50];

interface Frames {
  readonly stackFrames: readonly { readonly id: number; readonly line: number; readonly source?: { readonly path?: string } }[];
}

export function registerThumbnails(): vscode.Disposable {
  const pictures = new Thumbnails();
  const changed = (): void => pictures.changed();
  return vscode.Disposable.from(
    pictures,
    vscode.debug.onDidChangeActiveStackItem(changed),
    vscode.window.onDidChangeTextEditorVisibleRanges(changed),
    vscode.window.onDidChangeVisibleTextEditors(changed),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration(SECTION) && changed()),
  );
}

class Thumbnails implements vscode.Disposable {
  private readonly decoration = vscode.window.createTextEditorDecorationType({ rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed });
  private timer: NodeJS.Timeout | undefined;
  /** Counts what has changed: a drawing stops when it does. */
  private turn = 0;
  private frame: number | undefined;
  /** The pictures of this frame, by expression; null for what has none. */
  private readonly known = new Map<string, string | null>();

  changed(): void {
    const turn = ++this.turn;
    clearTimeout(this.timer);
    const session = vscode.debug.activeDebugSession;
    const frame = session?.type === "iree" ? frameOf(session) : undefined;
    const isWanted = vscode.workspace.getConfiguration(SECTION).get("thumbnails", true);
    if (frame !== this.frame || !isWanted) {
      this.frame = frame;
      this.known.clear();
      this.show(undefined);
    }
    if (session !== undefined && frame !== undefined && isWanted) {
      this.timer = setTimeout(() => void this.draw(session, frame, turn), PATIENCE);
    }
  }

  private async draw(session: vscode.DebugSession, frame: number, turn: number): Promise<void> {
    const frames: Frames | undefined = await session.customRequest("stackTrace", { threadId: 1, levels: MOST_FRAMES }).then(undefined, () => undefined);
    const place = frames?.stackFrames.find(({ id }) => id === frame);
    // Of a window on another machine, VS Code names the file by a URI with that machine.
    const path = place?.source?.path ?? "";
    const isPlace = ({ uri }: vscode.TextDocument): boolean => uri.fsPath === path || (path.includes("://") && vscode.Uri.parse(path).path === uri.path);
    const editor = vscode.window.visibleTextEditors.find(({ document }) => document.languageId === "mlir" && isPlace(document));
    if (place === undefined || editor === undefined) {
      return;
    }
    const drawn: vscode.DecorationOptions[] = [];
    for (const [line, name] of definitions(editor, place.line - 1)) {
      const picture = await this.pictureOf(session, frame, expressionOf(name));
      if (turn !== this.turn) {
        return;
      }
      if (picture !== undefined) {
        const { end } = editor.document.lineAt(line).range;
        drawn.push({ range: new vscode.Range(end, end), renderOptions: { after: { contentIconPath: vscode.Uri.parse(picture), margin: "0 0 0 1ch" } } });
      }
    }
    this.show(editor, drawn);
  }

  private async pictureOf(session: vscode.DebugSession, frameId: number, expression: string): Promise<string | undefined> {
    const known = this.known.get(expression);
    if (known !== undefined) {
      return known ?? undefined;
    }
    const looked = await tensorAt<{ readonly cells: Cells }>(session, { expression, cells: CELLS, frameId });
    const picture = looked && thumbnail(looked.cells, CELLS);
    if (frameId === this.frame) {
      this.known.set(expression, picture ?? null);
    }
    return picture;
  }

  /** Shows pictures in one editor, and none in the others. */
  private show(shown: vscode.TextEditor | undefined, pictures: readonly vscode.DecorationOptions[] = []): void {
    for (const editor of vscode.window.visibleTextEditors) {
      editor.setDecorations(this.decoration, editor === shown ? pictures : []);
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.decoration.dispose();
  }
}

/** The first value that each visible line above a stop defines, in its function. */
function definitions({ document, visibleRanges }: vscode.TextEditor, stopped: number): [number, ValueName][] {
  if (stopped < 0 || stopped >= document.lineCount) {
    return [];
  }
  const byLine = new Map<number, ValueName>();
  for (const [line, name] of definedIn(document, visibleRanges, stopped)) {
    if (!byLine.has(line)) {
      byLine.set(line, name);
    }
  }
  return [...byLine].slice(-MOST);
}
