// The configuration of a debug session. F5 without a launch.json takes the active editor's .mlir or .vmfb, and the function
// under the cursor. Missing parts come from the settings, from the last time, or from the user if there is a choice.

import { isAbsolute, resolve } from "node:path";
import * as vscode from "vscode";
import { textOf } from "./failures";
import type { ArgumentForm, Purpose } from "./arguments/form";
import { type Binary, BinaryMissing, explainMissing, SECTION, settingPath } from "./binary";
import type { Compiler } from "./compiler";
import { type CallableFunction, functionAt, signatureText } from "./functions";
import type { Samples } from "./home/samples";
import type { LanguageServer } from "./languageClient";
import { launchOf } from "./launch";
import { moduleUri } from "./moduleUri";

/** Exports that the runtime calls, and no user. */
const OF_THE_RUNTIME = ["__init", "__deinit", "__notify"];

export class ConfigurationProvider implements vscode.DebugConfigurationProvider {
  constructor(
    private readonly binary: Binary,
    private readonly server: LanguageServer,
    private readonly compiler: Compiler,
    private readonly form: ArgumentForm,
    private readonly memory: vscode.Memento,
    private readonly samples: Samples,
  ) {}

  /** Runs before variables are replaced. An empty configuration means F5 without a launch.json. */
  resolveDebugConfiguration(
    _folder: vscode.WorkspaceFolder | undefined,
    configuration: vscode.DebugConfiguration,
  ): vscode.DebugConfiguration | undefined {
    if (configuration.request === "attach") {
      return configuration;
    }
    const active = activeProgram();
    const isEmpty = !configuration.type && !configuration.request && !configuration.name;
    // VS Code knows no file for the disassembly of a module, so `${file}` is replaced here.
    const program: unknown = configuration["program"];
    if (!isEmpty && program !== undefined && !(program === "${file}" && active !== undefined)) {
      return configuration;
    }
    if (active === undefined) {
      void nothingToDebug();
      return undefined;
    }
    return { ...active, ...configuration, ...named(configuration), program: active["program"] };
  }

  /** Runs after variables are replaced. Fills in the rest, and asks the user if necessary. */
  async resolveDebugConfigurationWithSubstitutedVariables(
    folder: vscode.WorkspaceFolder | undefined,
    configuration: vscode.DebugConfiguration,
    token?: vscode.CancellationToken,
  ): Promise<vscode.DebugConfiguration | undefined> {
    if (configuration.request === "attach") {
      return withToken(withPort(configuration));
    }
    try {
      const scope = folder ?? vscode.workspace.workspaceFolders?.[0];
      const launch = withSettings(configuration, scope);
      const module = this.samples.compiledOf(String(launch["program"]));
      if (configuration["debugServer"] === undefined) {
        this.binary.path();
        // Before the first question: an answer would lead nowhere.
        if (module === undefined && !(await this.compiler.isReadyFor(launch, scope))) {
          return undefined;
        }
      }
      const whole = await this.askForCall(launch, { verb: launch["noDebug"] === true ? "Run" : "Debug" }, token);
      if (whole !== undefined && module !== undefined) {
        whole["program"] = module;
      }
      // This extension says why a launch has failed, in a notification with ways out.
      // There is no debugging in an untrusted workspace.
      return whole && { ...whole, quietFailures: true, trusted: vscode.workspace.isTrusted };
    } catch (error) {
      if (error instanceof BinaryMissing) {
        void explainMissing(error);
      } else {
        void vscode.window.showErrorMessage(textOf(error));
      }
      return undefined;
    }
  }

  /** Completes `function` and `inputs`; undefined if the user cancelled. */
  async askForCall(
    launch: vscode.DebugConfiguration,
    purpose: Purpose,
    token?: vscode.CancellationToken,
  ): Promise<vscode.DebugConfiguration | undefined> {
    if (launch["function"] !== undefined && launch["inputs"] !== undefined) {
      return launch;
    }
    const program = String(launch["program"]);
    const functions = await this.functionsOf(program, token);
    const wanted: unknown = launch["function"];
    const chosen = wanted === undefined ? await this.choose(program, functions, purpose) : functions.find(({ name }) => name === wanted);
    if (chosen === null) {
      return undefined;
    }
    if (chosen === undefined) {
      return launch; // Not seen in the text, which is no proof: the adapter looks into the module and says.
    }
    if (launch["inputs"] !== undefined || chosen.parameters.length === 0) {
      await this.remember(program, chosen);
      return { ...launch, function: chosen.name, inputs: launch["inputs"] ?? [] };
    }
    const offered = wanted === undefined ? functions : [chosen];
    const call = await this.form.ask({ program, functions: offered, chosen, purpose });
    if (call === undefined) {
      return undefined;
    }
    await this.remember(program, call.callee);
    return { ...launch, function: call.callee.name, inputs: call.inputs };
  }

  /** None if the program cannot be read: the adapter says why. */
  private async functionsOf(program: string, token?: vscode.CancellationToken): Promise<CallableFunction[]> {
    const functions = await this.server.functionsOf(vscode.Uri.file(program), token).catch(() => []);
    return functions.filter(({ name }) => !OF_THE_RUNTIME.includes(name));
  }

  /**
   * The function to call: the only one, the one under the cursor, the last one, or the user's choice. Null if the user
   * cancelled.
   */
  private async choose(program: string, functions: readonly CallableFunction[], { verb }: Purpose): Promise<CallableFunction | null | undefined> {
    if (functions.length <= 1) {
      return functions[0];
    }
    const editor = vscode.window.activeTextEditor;
    const isShown = editor !== undefined && launchOf(editor.document.uri)?.["program"] === program && moduleUri(editor.document.uri) === undefined;
    const here = isShown ? functionAt(functions, editor.selection.active.line) : undefined;
    const last = this.memory.get<string>(`function:${program}`);
    const known = here ?? functions.find(({ name }) => name === last);
    if (known !== undefined) {
      return known;
    }
    const items = functions.map((callable) => ({ label: signatureText(callable), callable }));
    const picked = await vscode.window.showQuickPick(items, { title: `Choose a function to ${verb.toLowerCase()}`, ignoreFocusOut: true });
    return picked?.callable ?? null;
  }

  private async remember(program: string, { name }: CallableFunction): Promise<void> {
    await this.memory.update(`function:${program}`, name);
  }
}

async function nothingToDebug(): Promise<void> {
  const open = "Open File…";
  const answer = await vscode.window.showErrorMessage(
    "Open a .mlir or a .vmfb to debug it. (A .vmasm is debugged as the module that iree-dbg asm makes of it.)",
    open,
  );
  if (answer === open) {
    await vscode.commands.executeCommand("workbench.action.files.openFile");
  }
}

/** A complete attach configuration; undefined, with a message, if it names no port. */
function withPort(configuration: vscode.DebugConfiguration): vscode.DebugConfiguration | undefined {
  if (Number.isInteger(Number(configuration["port"])) && Number(configuration["port"]) > 0) {
    return configuration;
  }
  void vscode.window.showErrorMessage(
    'The attach configuration needs "port": the port that the running program has printed when it began to listen.',
  );
  return undefined;
}

/** An attach configuration with the token for the program; undefined if the user cancelled. */
async function withToken(
  configuration: vscode.DebugConfiguration | undefined,
): Promise<vscode.DebugConfiguration | undefined> {
  if (configuration === undefined || typeof configuration["token"] === "string") {
    return configuration;
  }
  const token = await vscode.window.showInputBox({
    title: `Attach to port ${configuration["port"]}`,
    prompt: "The token that iree-dbg printed when it began to listen; empty if it was started with --no-token",
    password: true,
    ignoreFocusOut: true,
  });
  return token === undefined ? undefined : { ...configuration, token: token.trim() };
}

/** The launch of the active editor's .mlir or .vmfb. VS Code keeps large files from extensions, but tells of their tabs. */
export function activeProgram(): vscode.DebugConfiguration | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  const tab = input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom ? input.uri : undefined;
  const uri = vscode.window.activeTextEditor?.document.uri ?? tab;
  return uri && launchOf(uri);
}

/** The parts of a configuration that VS Code leaves empty instead of omitting them. */
function named(configuration: vscode.DebugConfiguration): vscode.DebugConfiguration {
  return {
    type: configuration.type || "iree",
    request: configuration.request || "launch",
    name: configuration.name || "Debug",
  };
}

/** The configuration with relative paths resolved, and with settings for missing parts. */
function withSettings(
  configuration: vscode.DebugConfiguration,
  folder: vscode.WorkspaceFolder | undefined,
): vscode.DebugConfiguration {
  const launch: vscode.DebugConfiguration = { ...configuration };
  launch["cwd"] ??= folder?.uri.fsPath;
  launch["workspaceFolders"] ??= (vscode.workspace.workspaceFolders ?? []).map((it) => it.uri.fsPath);
  const program: unknown = launch["program"];
  if (typeof program !== "string" || program === "") {
    throw new Error('The launch configuration needs "program": a .mlir or a .vmfb.');
  }
  const cwd: unknown = launch["cwd"];
  launch["program"] = isAbsolute(program) || typeof cwd !== "string" ? program : resolve(cwd, program);
  launch["record"] ??= "auto";
  launch["ireeCompile"] ??= settingPath("ireeCompile", folder);
  const flags = vscode.workspace.getConfiguration(SECTION, folder?.uri).get<string[]>("compilerFlags", []);
  const more: unknown = launch["compilerFlags"];
  launch["compilerFlags"] = [...flags, ...(Array.isArray(more) ? more : [])];
  return launch;
}
