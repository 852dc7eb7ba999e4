// The breakpoints of VS Code, for pages that mark the boxes of their lines.

import { dirname, isAbsolute, join } from "node:path";
import * as vscode from "vscode";
import type { Graph } from "../../views/module/answers";
import type { LineBreakpoint, ToPage } from "../../views/module/protocol";

type BreakpointsMessage = Extract<ToPage, { readonly kind: "breakpoints" }>;

interface Marked {
  readonly module: vscode.Uri;
  readonly tell: (message: BreakpointsMessage) => void;
  /** The paths of the files that the graph names. */
  paths: Readonly<Record<string, string>>;
}

/** Where a file is that a module names. */
export function placeOf(module: vscode.Uri, file: string): vscode.Uri {
  return vscode.Uri.file(isAbsolute(file) ? file : join(dirname(module.fsPath), file));
}

export class LineBreakpoints implements vscode.Disposable {
  private readonly pages = new Set<Marked>();
  private readonly listening = vscode.debug.onDidChangeBreakpoints(() => this.pages.forEach(send));

  /** The page of a module hears of breakpoints, once it has a graph. */
  mark(module: vscode.Uri, tell: (message: BreakpointsMessage) => void): vscode.Disposable {
    const page: Marked = { module, tell, paths: {} };
    this.pages.add(page);
    return new vscode.Disposable(() => this.pages.delete(page));
  }

  /** The pages of a module show this graph. */
  learn(module: vscode.Uri, { functions }: Graph): void {
    const files = new Set(functions.flatMap(({ nodes }) => nodes.flatMap(({ file }) => file ?? [])));
    const paths = Object.fromEntries(Array.from(files, (file) => [file, placeOf(module, file).fsPath]));
    for (const page of this.pages) {
      if (page.module.toString() === module.toString()) {
        page.paths = paths;
        send(page);
      }
    }
  }

  dispose(): void {
    this.listening.dispose();
  }
}

function send({ tell, paths }: Marked): void {
  const at = vscode.debug.breakpoints.flatMap((it): LineBreakpoint[] => {
    const isOfLine = it instanceof vscode.SourceBreakpoint && it.enabled;
    return isOfLine ? [{ path: it.location.uri.fsPath, line: it.location.range.start.line + 1 }] : [];
  });
  tell({ kind: "breakpoints", at, paths });
}
