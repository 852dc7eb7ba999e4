// Both sides of a tensor that a comparison has kept, in the tensor view: A, B and |A−B|.

import type * as vscode from "vscode";
import type { Other } from "../../views/tensor/answers";
import type { Binary } from "../binary";
import { TensorFile } from "../tensors/file";

export class KeptPair extends TensorFile {
  constructor(binary: Binary, a: vscode.Uri, private readonly b: vscode.Uri, private readonly name: string) {
    super(binary, a);
  }

  override get title(): string {
    return this.name;
  }

  get comparedWith(): Other {
    return { with: { file: this.b.fsPath }, label: `${this.name} of side B` };
  }
}
