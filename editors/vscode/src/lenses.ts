// The actions above an export. The server offers "Run", "Debug" and "Show ABI" with the document and the name of the
// function. The first two start a session; the third shows a text from the server.

import * as vscode from "vscode";
import { launchOf } from "./launch";

const SCHEME = "iree-abi";

/** The commands of lenses that this extension has. */
export const COMMANDS = [
  "iree-dbg.runFunction", "iree-dbg.debugFunction", "iree-dbg.showAbi", "iree-dbg.whatBecomes",
] as const;

export function registerLenses(): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand("iree-dbg.runFunction", (uri: string, name: string) => start(uri, name, true)),
    vscode.commands.registerCommand("iree-dbg.debugFunction", (uri: string, name: string) => start(uri, name, false)),
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      provideTextDocumentContent: (uri) => texts.get(uri.toString()) ?? "",
    }),
    vscode.workspace.onDidCloseTextDocument((document) => texts.delete(document.uri.toString())),
  );
}

async function start(document: string, name: string, noDebug: boolean): Promise<void> {
  const uri = vscode.Uri.parse(document);
  const launch = launchOf(uri);
  if (launch === undefined) {
    void vscode.window.showErrorMessage("Save this text as a .mlir: only functions of files can be run.");
    return;
  }
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  await vscode.debug.startDebugging(folder, { ...launch, function: name }, { noDebug });
}

/** The shown texts, by the name of their document. */
const texts = new Map<string, string>();

/** Shows the server's answer to `iree-dbg.showAbi` beside the code. */
export async function showAbi(name: string, markdown: string): Promise<void> {
  const uri = vscode.Uri.from({ scheme: SCHEME, path: `/@${name.replaceAll("/", "_")}.md` });
  texts.set(uri.toString(), markdown);
  await vscode.commands.executeCommand("markdown.showPreviewToSide", uri);
}
