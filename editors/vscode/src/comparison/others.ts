// What a module can be compared with.

import { basename } from "node:path";
import * as vscode from "vscode";

/** What is side B, as flags of `iree-dbg diff`, and in words. */
export interface Other {
  readonly flags: readonly string[];
  readonly label: string;
  /** Whether side B is the same module with inputs of its own, which are asked for. */
  readonly hasOtherInputs?: true;
}

interface Choice extends vscode.QuickPickItem {
  readonly other: () => Promise<Other | undefined> | Other;
}

/** Lets the user choose; undefined if they change their mind. */
export async function chooseOther(program: string): Promise<Other | undefined> {
  const choice = await vscode.window.showQuickPick(CHOICES, { title: `Compare ${basename(program)} with`, matchOnDetail: true, ignoreFocusOut: true });
  return choice?.other();
}

const CHOICES: readonly Choice[] = [
  {
    label: "$(symbol-operator) Float64 of Each Dispatch",
    detail: "What the text of each dispatch means, evaluated with a bound for its rounding; its bytecode where that is not possible",
    other: () => ({ flags: [], label: "the text of each dispatch in float64" }),
  },
  {
    label: "$(file-binary) Bytecode of Each Dispatch",
    detail: "The same text, compiled to bytecode: where machine code differs, which of both is wrong",
    other: () => ({ flags: ["--bytecode"], label: "the bytecode of each dispatch" }),
  },
  {
    label: "$(package) Another Module…",
    detail: "Two modules in lock step, such as before and after a change, or of two compilers",
    other: async () => {
      const file = await chooseFile("The other module", { "IREE module": ["vmfb"] });
      return file === undefined ? undefined : { flags: [file], label: basename(file) };
    },
  },
  {
    label: "$(symbol-parameter) Other Inputs…",
    detail: "The same module with two sets of inputs, in lock step",
    // Each side goes on with what is its own, as its inputs are.
    other: () => ({ flags: ["--mode=accumulated"], label: "the same module with other inputs", hasOtherInputs: true }),
  },
  {
    label: "$(symbol-structure) ONNX Model…",
    detail: "The model that the module was made of, as ONNX Runtime computes it",
    other: async () => {
      const file = await chooseFile("The ONNX model of this module", { "ONNX model": ["onnx"] });
      return file === undefined ? undefined : { flags: [file], label: basename(file) };
    },
  },
  {
    label: "$(folder) Folder of .npy Tensors…",
    detail: "Expected tensors by their names, as iree-dbg tensors --format=npz-dir writes them",
    other: async () => {
      const [folder] = (await vscode.window.showOpenDialog({ title: "The expected tensors", openLabel: "Compare", canSelectFolders: true, canSelectFiles: false })) ?? [];
      return folder && { flags: [`--golden=${folder.fsPath}`], label: `the tensors of ${basename(folder.fsPath)}` };
    },
  },
];

async function chooseFile(title: string, filters: Record<string, string[]>): Promise<string | undefined> {
  const [file] = (await vscode.window.showOpenDialog({ title, openLabel: "Compare", filters })) ?? [];
  return file?.fsPath;
}
