// The configuration of a debug session. F5 without a launch.json takes the active editor's .mlir or .vmfb. Missing parts
// come from the settings, or from the user if there is a choice.

import { readFile, stat } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import * as vscode from "vscode";
import { type Binary, BinaryMissing, explainMissing, SECTION, settingPath } from "./binary";
import { type CallableFunction, functionsOfModule, functionsOfMlir, signatureText } from "./functions";
import { moduleUri } from "./moduleUri";

/** A larger .mlir is mostly constants, and reading it only for a question would take too long. */
const LARGEST_SOURCE_TO_SCAN = 32 * 1024 * 1024;

export class ConfigurationProvider implements vscode.DebugConfigurationProvider {
  constructor(
    private readonly binary: Binary,
    private readonly memory: vscode.Memento,
  ) {}

  /** The entries of "Show all automatic debug configurations" and of a fresh launch.json. */
  provideDebugConfigurations(): vscode.DebugConfiguration[] {
    return [{ type: "iree", request: "launch", name: "Debug the open .mlir or .vmfb", program: "${file}" }];
  }

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
      void vscode.window.showErrorMessage(
        'Nothing to debug: open a .mlir or a .vmfb, or set "program" in the launch configuration. ' +
          "(A .vmasm is debugged as the module that iree-dbg asm makes of it.)",
      );
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
      if (configuration["debugServer"] === undefined) {
        this.binary.path();
      }
      return await this.askForCall(launch, token);
    } catch (error) {
      if (error instanceof BinaryMissing) {
        void explainMissing(error);
      } else {
        void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
      }
      return undefined;
    }
  }

  /** Completes `function` and `inputs`; undefined if the user cancelled. */
  private async askForCall(
    launch: vscode.DebugConfiguration,
    token?: vscode.CancellationToken,
  ): Promise<vscode.DebugConfiguration | undefined> {
    if (launch["function"] !== undefined && launch["inputs"] !== undefined) {
      return launch;
    }
    const program = String(launch["program"]);
    const functions = await this.functionsOf(program, token);
    const wanted: unknown = launch["function"];
    const chosen = wanted === undefined ? await choose(functions) : functions.find(({ name }) => name === wanted);
    if (chosen === null) {
      return undefined;
    }
    if (chosen === undefined) {
      return launch; // Not seen in the text, which is no proof: the adapter looks into the module and says.
    }
    const inputs: unknown = launch["inputs"] ?? (await this.askForInputs(program, chosen));
    return inputs === undefined ? undefined : { ...launch, function: chosen.name, inputs };
  }

  private async functionsOf(program: string, token?: vscode.CancellationToken): Promise<CallableFunction[]> {
    if (!program.endsWith(".mlir")) {
      return functionsOfModule(await this.binary.run(["dump", "--output=json", program], token));
    }
    const { size } = await stat(program);
    return size > LARGEST_SOURCE_TO_SCAN ? [] : functionsOfMlir(await readFile(program, "utf8"));
  }

  /** Asks for each argument, and offers the last answers. */
  private async askForInputs(program: string, callee: CallableFunction): Promise<string[] | undefined> {
    const key = `inputs:${program}:${signatureText(callee)}`;
    const last = this.memory.get<string[]>(key, []);
    const inputs: string[] = [];
    for (const [index, parameter] of callee.parameters.entries()) {
      const input = await vscode.window.showInputBox({
        title: `${signatureText(callee)}: argument ${index + 1} of ${callee.parameters.length}`,
        prompt: `${parameter} — as for iree-run-module --input=: 12, 1.5, 4xf32=1,2,3,4, @file.npy`,
        value: last[index] ?? "",
        ignoreFocusOut: true,
        validateInput: (value) => (value.trim() === "" ? "A value is needed; Escape cancels the launch." : undefined),
      });
      if (input === undefined) {
        return undefined;
      }
      inputs.push(input.trim());
    }
    await this.memory.update(key, inputs);
    return inputs;
  }
}

/** A complete attach configuration; undefined, with a message, if it names no port. */
function withPort(configuration: vscode.DebugConfiguration): vscode.DebugConfiguration | undefined {
  if (Number.isInteger(Number(configuration["port"])) && Number(configuration["port"]) > 0) {
    return configuration;
  }
  void vscode.window.showErrorMessage(
    'The attach configuration needs "port": the port that `iree-dbg run --listen=HOST:PORT` prints.',
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

/** The launch of the active editor's .mlir or .vmfb. */
function activeProgram(): vscode.DebugConfiguration | undefined {
  const uri = vscode.window.activeTextEditor?.document.uri;
  return uri && launchOf(uri);
}

/** The launch of a file; undefined if it cannot be debugged. */
export function launchOf(uri: vscode.Uri): vscode.DebugConfiguration | undefined {
  const module = moduleUri(uri);
  const file = module ?? uri;
  if (file.scheme !== "file" || !/\.(mlir|vmfb)$/.test(file.path)) {
    return undefined;
  }
  const launch = { type: "iree", request: "launch", name: "Debug", program: file.fsPath };
  // A user of the disassembly wants to stop there, even if the module knows its source.
  return module === undefined ? launch : { ...launch, disassembly: true };
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
  const program: unknown = launch["program"];
  if (typeof program !== "string" || program === "") {
    throw new Error('The launch configuration needs "program": a .mlir or a .vmfb.');
  }
  const cwd: unknown = launch["cwd"];
  launch["program"] = isAbsolute(program) || typeof cwd !== "string" ? program : resolve(cwd, program);
  launch["ireeCompile"] ??= settingPath("ireeCompile", folder);
  const flags = vscode.workspace.getConfiguration(SECTION, folder?.uri).get<string[]>("compilerFlags", []);
  const more: unknown = launch["compilerFlags"];
  launch["compilerFlags"] = [...flags, ...(Array.isArray(more) ? more : [])];
  return launch;
}

/** The function to call: the only one, or the user's choice; null if the user cancelled. */
async function choose(functions: readonly CallableFunction[]): Promise<CallableFunction | null | undefined> {
  if (functions.length <= 1) {
    return functions[0];
  }
  const items = functions.map((callable) => ({ label: signatureText(callable), callable }));
  const picked = await vscode.window.showQuickPick(items, { title: "Which function to debug?", ignoreFocusOut: true });
  return picked?.callable ?? null;
}
