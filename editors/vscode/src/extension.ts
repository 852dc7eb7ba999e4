// Puts together the parts of the extension. Each has a file of its own:
//
//   binary.ts              finds and runs iree-dbg
//   debugConfiguration.ts  F5: what to launch, and the questions before it
//   adapter.ts             starts `iree-dbg dap`
//   moduleView.ts          a .vmfb as its disassembly
//   languageClient.ts      `iree-dbg lsp`
//   lenses.ts              the actions above exports
//   stages.ts              what becomes of a function: the stages of its compilation
//   largeFiles.ts          files that VS Code keeps from extensions
//   level.ts               the level of a stopped program
//   values.ts              values in hovers and beside the code while debugging

import * as vscode from "vscode";
import { AdapterFactory } from "./adapter";
import { Binary } from "./binary";
import { ConfigurationProvider, launchOf } from "./debugConfiguration";
import { registerLargeFiles } from "./largeFiles";
import { LanguageServer } from "./languageClient";
import { registerLenses } from "./lenses";
import { registerLevel } from "./level";
import { registerModuleView } from "./moduleView";
import { registerStages } from "./stages";
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
    registerStages(server),
    server,
    vscode.commands.registerCommand("iree-dbg.restartServer", () => server.restart()),
    vscode.commands.registerCommand("iree-dbg.debug", debugFile),
  );
  void server.start();
}

/** Debugs the file of an editor's run button or of the explorer's menu; by default the active editor's. */
async function debugFile(resource?: vscode.Uri): Promise<void> {
  const uri = resource ?? vscode.window.activeTextEditor?.document.uri;
  const launch = uri && launchOf(uri);
  if (uri === undefined || launch === undefined) {
    void vscode.window.showErrorMessage("Only a .mlir or a .vmfb can be debugged.");
    return;
  }
  await vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(uri), launch);
}
