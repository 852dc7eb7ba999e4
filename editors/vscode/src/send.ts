// A stop for someone else: a folder with the program, its inputs and the moment, which another VS Code opens at the same stop.
// Programs are deterministic, so these are enough; nothing that was recorded is in it.

import { parse } from "node:path";
import * as vscode from "vscode";
import { tellFailure } from "./failures";
import { isSource } from "./launch";
import { filesOf, Names } from "./sendFiles";

/** What of a launch matters to the program, and is in the folder's launch, too. */
const KEPT = [
  "function", "device", "threads", "level", "stepBy", "guard", "maxSteps", "maxTime", "maxMemory", "maxCallDepth", "imitateNarrowCalls",
  "foreignMemory", "signatures", "native", "sandbox",
] as const;

export function registerSend(): vscode.Disposable {
  return vscode.commands.registerCommand("iree-dbg.sendStop", () => tellFailure(send));
}

async function send(): Promise<void> {
  const session = vscode.debug.activeDebugSession;
  if (session?.type !== "iree" || session.configuration.request !== "launch") {
    throw new Error("Pause a program that VS Code has started.");
  }
  const { moment, isRepeatable }: { readonly moment: string | null; readonly isRepeatable: boolean } = await session.customRequest("iree/moment", {});
  if (moment === null || !isRepeatable) {
    throw new Error("Values were changed, so another launch does not come to this stop. Restart the program, and stop there without a change.");
  }
  const [parent] = (await vscode.window.showOpenDialog({ canSelectFiles: false, canSelectFolders: true, openLabel: "Save Stop Here" })) ?? [];
  if (parent === undefined) {
    return;
  }
  const { configuration } = session;
  const folder = await unused(parent, `${parse(String(configuration["program"])).name}-stop`);
  await vscode.workspace.fs.createDirectory(folder);
  const launch = await copy(session, folder, moment);
  const text = JSON.stringify({ version: "0.2.0", configurations: [launch] }, undefined, 2);
  await write(vscode.Uri.joinPath(folder, ".vscode", "launch.json"), `${text}\n`);
  await write(vscode.Uri.joinPath(folder, "README.md"), page(launch, moment));
  const open = "Open Folder";
  if ((await vscode.window.showInformationMessage(`Saved this stop in ${folder.fsPath}. F5 in that folder opens it.`, open)) === open) {
    await vscode.commands.executeCommand("vscode.openFolder", folder, { forceNewWindow: true });
  }
}

/** Copies all files of a session. Returns the launch in the folder. */
async function copy(session: vscode.DebugSession, folder: vscode.Uri, moment: string): Promise<vscode.DebugConfiguration> {
  const { configuration } = session;
  const names = new Names();
  const launch: vscode.DebugConfiguration = { type: "iree", request: "launch", name: "This stop", program: "" };
  for (const key of KEPT) {
    if (configuration[key] !== undefined) {
      launch[key] = configuration[key];
    }
  }
  const cwd: unknown = configuration["cwd"];
  const files = filesOf({
    program: await programOf(session),
    source: String(configuration["program"]),
    inputs: configuration["inputs"],
    parameters: configuration["parameters"],
    modules: configuration["modules"],
    cwd: typeof cwd === "string" ? cwd : undefined,
  }, names);
  for (const { from, to, isOptional } of files.copies) {
    await vscode.workspace.fs.copy(vscode.Uri.file(from), vscode.Uri.joinPath(folder, to)).then(undefined, (error: unknown) => {
      if (!isOptional) {
        throw error;
      }
    });
  }
  return { ...launch, ...files.launch, cwd: "${workspaceFolder}", sourceDirectories: ["${workspaceFolder}"], record: true, moment };
}

/** The file that the session runs: of a source, the module that it was compiled to. */
async function programOf(session: vscode.DebugSession): Promise<string> {
  const program = String(session.configuration["program"]);
  if (!isSource(program)) {
    return program;
  }
  const { modules }: { readonly modules: readonly { readonly path?: string }[] } = await session.customRequest("modules", {});
  const compiled = modules.map(({ path }) => path).filter((path) => path?.endsWith(".vmfb")).at(-1);
  if (compiled === undefined) {
    throw new Error("The module that was compiled is not known.");
  }
  return compiled;
}

async function unused(parent: vscode.Uri, name: string): Promise<vscode.Uri> {
  for (let number = 1; ; number++) {
    const folder = vscode.Uri.joinPath(parent, number === 1 ? name : `${name}-${number}`);
    const isThere = await vscode.workspace.fs.stat(folder).then(() => true, () => false);
    if (!isThere) {
      return folder;
    }
  }
}

async function write(file: vscode.Uri, text: string): Promise<void> {
  await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(text));
}

/** How to open the folder, for someone who does not know it. */
function page({ program, function: called, inputs, modules, parameters }: vscode.DebugConfiguration, moment: string): string {
  const file = (path: string): string => path.replace("${workspaceFolder}/", "");
  const quoted = (text: string): string => (/^[\w@./=,:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const words = [
    "iree-dbg", "debug", "--record",
    ...((modules as string[] | undefined) ?? []).map((it) => `--module=${file(it)}`),
    ...(called === undefined ? [] : [`--function=${called as string}`]),
    ...((inputs as string[] | undefined) ?? []).map((it) => `--input=${it}`),
    ...((parameters as string[] | undefined) ?? []).map((it) => `--parameters=${it}`),
    "-ex", "start", "-ex", `goto ${moment}`, file(String(program)),
  ];
  return [
    `# ${file(String(program))} at ${moment}`,
    "",
    "Open this folder in VS Code with the IREE debugger, and press F5: the program runs to the stop.",
    "Or in a terminal:",
    "",
    "```sh",
    words.map(quoted).join(" "),
    "```",
    "",
  ].join("\n");
}
