// Puts together the parts of the extension. Each has a file of its own:
//
//   binary.ts              finds and runs iree-dbg
//   debugConfiguration.ts  F5: the questions before a launch
//   launch.ts              what is launched for a file
//   arguments/             the form for the arguments of a function
//   home/                  the walkthrough's samples, the status item, commands of the palette, the tip at a first stop
//   tasks.ts               tasks that compile
//   checks/                tests of check modules in the Test Explorer
//   constants.ts           the long constants of a source: lenses, views
//   foldConstants.ts       their digits out of sight
//   compiler.ts            whether there is an iree-compile, and how to get one
//   launchProblems.ts      what a launch complains of: errors of the compiler, missing debug information
//   adapter.ts             starts `iree-dbg dap`
//   comparison/            a module beside something else, over its graph
//   module/                the editor of a .vmfb: overview, dispatch graph, what has run
//   moduleView.ts          a .vmfb as its disassembly
//   languageClient.ts      `iree-dbg lsp`
//   lenses.ts              the actions above exports
//   stages.ts              what becomes of a function: the stages of its compilation
//   largeFiles.ts          files that VS Code keeps from extensions
//   level.ts               the level of a stopped program
//   failures.ts            what an error says
//   past.ts                who has written a value
//   origins.ts, originTree.ts  what a number is made of, as a tree
//   send.ts, sendFiles.ts  a stop in a folder, for someone else
//   verdict.ts             wrong results, and the way to where that began
//   tensors/               tensors: panels, files, hovers, small pictures beside definitions
//   values.ts              values in hovers and beside the code while debugging
//   webviews.ts            opens the pages of web views; what is in them is in ../views

import * as vscode from "vscode";
import { AdapterFactory } from "./adapter";
import { ArgumentForm } from "./arguments/form";
import { Binary } from "./binary";
import { registerChecks } from "./checks/explorer";
import { Comparisons } from "./comparison/comparisons";
import { Compiler } from "./compiler";
import { registerConstants } from "./constants";
import { ConfigurationProvider } from "./debugConfiguration";
import { registerFoldedConstants } from "./foldConstants";
import { registerActions } from "./home/actions";
import { registerFirstStop } from "./home/firstStop";
import { Samples } from "./home/samples";
import { Status } from "./home/status";
import { registerLargeFiles } from "./largeFiles";
import { LanguageServer } from "./languageClient";
import { launchOf } from "./launch";
import { registerLaunchProblems } from "./launchProblems";
import { registerLenses } from "./lenses";
import { registerLevel } from "./level";
import { registerModuleEditor } from "./module/editor";
import { registerModuleView } from "./moduleView";
import { registerPast } from "./past";
import { registerSend } from "./send";
import { registerStages } from "./stages";
import { registerTasks } from "./tasks";
import { registerTensorFiles } from "./tensors/fileEditor";
import { registerTensorHovers } from "./tensors/hover";
import { registerTensors } from "./tensors/panel";
import { registerThumbnails } from "./tensors/thumbnails";
import { registerValues } from "./values";
import { registerVerdicts } from "./verdict";

/** The entry of "Show all automatic debug configurations". */
const OPEN_FILE = { type: "iree", request: "launch", name: "Debug the open .mlir or .vmfb", program: "${file}" };

export function activate(context: vscode.ExtensionContext): void {
  const binary = new Binary(context.extensionPath);
  const server = new LanguageServer(binary);
  const memory = context.workspaceState;
  const form = new ArgumentForm(context, memory);
  const compiler = new Compiler(server);
  const samples = new Samples(context);
  const configurations = new ConfigurationProvider(binary, server, compiler, form, memory, samples);
  const comparisons = new Comparisons(context, binary, configurations, compiler, samples);
  context.subscriptions.push(
    vscode.debug.registerDebugConfigurationProvider("iree", configurations),
    vscode.debug.registerDebugConfigurationProvider(
      "iree",
      // A fresh launch.json has the manifest's initial configuration.
      { provideDebugConfigurations: () => [OPEN_FILE] },
      vscode.DebugConfigurationProviderTriggerKind.Dynamic,
    ),
    vscode.debug.registerDebugAdapterDescriptorFactory("iree", new AdapterFactory(binary)),
    registerModuleView(binary),
    comparisons,
    registerModuleEditor(context, server, comparisons),
    registerLaunchProblems(),
    registerTensors(context, binary),
    registerTensorFiles(context, binary),
    registerTensorHovers(),
    registerThumbnails(),
    registerConstants(context, binary),
    registerFoldedConstants(),
    registerValues(),
    registerLevel(),
    registerPast(),
    registerVerdicts(),
    registerSend(),
    registerLenses(),
    registerLargeFiles(server),
    registerStages(server, memory),
    registerTasks(binary, compiler),
    registerChecks(binary, server, compiler),
    registerActions(server, compiler),
    registerFirstStop(context.globalState),
    samples,
    new Status(binary, server, compiler),
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
    void vscode.window.showErrorMessage("Open a .mlir or a .vmfb to debug it.");
    return;
  }
  await vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(uri), launch);
}
