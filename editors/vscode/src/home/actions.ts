// Commands of the palette for what lenses and buttons do elsewhere: they are about the function at the cursor, or the file
// in front.

import * as vscode from "vscode";
import { tellFailure } from "../failures";
import type { Compiler } from "../compiler";
import { functionAt } from "../functions";
import type { LanguageServer } from "../languageClient";
import { launchOf } from "../launch";
import { moduleUri } from "../moduleUri";

export function registerActions(server: LanguageServer, compiler: Compiler): vscode.Disposable {
  const command = (name: string, act: () => unknown): vscode.Disposable =>
    vscode.commands.registerCommand(`iree-dbg.${name}`, () => tellFailure(act));
  return vscode.Disposable.from(
    command("debugAtCursor", () => start(server, false)),
    command("runAtCursor", () => start(server, true)),
    command("showAbiAtCursor", async () => {
      const { uri, name } = await functionAtCursor(server);
      // The client shows the server's answer.
      await vscode.commands.executeCommand("iree-dbg.showAbi", uri.toString(), name);
    }),
    command("runTestOfFile", () => vscode.commands.executeCommand("iree-dbg.runTest", editorOf().document.uri.toString())),
    command("attach", attach),
    command("chooseCompiler", () => compiler.choose()),
    command("installCompiler", () => compiler.installHere()),
    command("showServerOutput", () => server.showOutput()),
    command("getStarted", openWalkthrough),
  );
}

/** Opens the walkthrough of this extension. */
export async function openWalkthrough(): Promise<void> {
  await vscode.commands.executeCommand("workbench.action.openWalkthrough", "iree-dbg.iree-dbg#start", false);
}

function editorOf(): vscode.TextEditor {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    throw new Error("Open a .mlir first.");
  }
  return editor;
}

async function functionAtCursor(server: LanguageServer): Promise<{ uri: vscode.Uri; name: string }> {
  const { document, selection } = editorOf();
  const functions = await server.functionsOf(document.uri);
  const only = functions.length === 1 ? functions[0] : undefined;
  const found = functionAt(functions, selection.active.line) ?? only;
  if (found === undefined) {
    throw new Error("Put the cursor into a function that is exported.");
  }
  return { uri: document.uri, name: found.name };
}

async function start(server: LanguageServer, noDebug: boolean): Promise<void> {
  const { uri } = editorOf().document;
  const launch = launchOf(uri);
  if (launch === undefined) {
    throw new Error("Open a .mlir or a .vmfb first.");
  }
  // The functions of a module are chosen from a list.
  const callee = moduleUri(uri) === undefined ? { function: (await functionAtCursor(server)).name } : {};
  await vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(uri), { ...launch, ...callee }, { noDebug });
}

/** Attaches to a program that listens; VS Code then asks for its token. */
async function attach(): Promise<void> {
  const answer = await vscode.window.showInputBox({
    title: "Attach to a program",
    prompt: "Where iree-dbg run --listen=… listens: HOST:PORT, or the port alone on this machine",
    value: "127.0.0.1:4711",
    validateInput: (text) => (/^(\S+:)?\d+$/.test(text.trim()) ? undefined : "Such as 127.0.0.1:4711"),
  });
  const parts = /^(?:(\S+):)?(\d+)$/.exec(answer?.trim() ?? "");
  if (parts !== null) {
    const host = parts[1] ?? "127.0.0.1";
    await vscode.debug.startDebugging(undefined, { type: "iree", request: "attach", name: `Attach to ${host}`, host, port: Number(parts[2]) });
  }
}
