// The extension's parts, put together. Each lives in a file of its own and takes what it needs:
//
//   binary.ts              finds and runs iree-dbg
//   debugConfiguration.ts  F5: what to launch, and the questions before it
//   adapter.ts             starts `iree-dbg dap`
//   moduleView.ts          a .vmfb as its disassembly
//   languageClient.ts      `iree-dbg lsp`
//   lenses.ts              what the lenses over exports do
//   largeFiles.ts          files that VS Code keeps from extensions
//   level.ts               the text that a stopped program is shown in
//   values.ts              values under the pointer and beside the code while debugging

import * as vscode from "vscode";
import { AdapterFactory } from "./adapter";
import { Binary } from "./binary";
import { ConfigurationProvider, launchOf } from "./debugConfiguration";
import { registerLargeFiles } from "./largeFiles";
import { LanguageServer } from "./languageClient";
import { registerLenses } from "./lenses";
import { registerLevel } from "./level";
import { registerModuleView } from "./moduleView";
import { registerValues } from "./values";

export function activate(context: vscode.ExtensionContext): void {
  const binary = new Binary(context.extensionPath);
  const configurations = new ConfigurationProvider(binary, context.workspaceState);
  const server = new LanguageServer(binary);
  context.subscriptions.push(
    vscode.debug.registerDebugConfigurationProvider("iree", configurations),
    vscode.debug.registerDebugConfigurationProvider(
      "iree",
      { provideDebugConfigurations: () => configurations.provideDebugConfigurations() },
      vscode.DebugConfigurationProviderTriggerKind.Dynamic,
    ),
    vscode.debug.registerDebugAdapterDescriptorFactory("iree", new AdapterFactory(binary)),
    registerModuleView(binary),
    registerValues(),
    registerLevel(),
    registerLenses(),
    registerLargeFiles(server),
    server,
    vscode.commands.registerCommand("iree-dbg.restartServer", () => server.restart()),
    vscode.commands.registerCommand("iree-dbg.debug", debugFile),
  );
  void server.start();
}

/** The run button of an editor and the explorer's menu, which pass the file they are for. */
async function debugFile(resource?: vscode.Uri): Promise<void> {
  const uri = resource ?? vscode.window.activeTextEditor?.document.uri;
  const launch = uri && launchOf(uri);
  if (uri === undefined || launch === undefined) {
    void vscode.window.showErrorMessage("Only a .mlir or a .vmfb can be debugged.");
    return;
  }
  await vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(uri), launch);
}
