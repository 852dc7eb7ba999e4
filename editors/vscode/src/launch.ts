// What is launched for a file: by F5, by lenses, by buttons, by commands of the palette.

import type * as vscode from "vscode";
import { LARGE_TEXT_SCHEME, moduleUri } from "./moduleUri";

/** Whether a program is compiled first. */
export function isSource(program: string): boolean {
  return /\.(mlir|mlirbc|onnx)$/.test(program);
}

/** The launch of a file; undefined if it cannot be debugged. */
export function launchOf(uri: vscode.Uri): vscode.DebugConfiguration | undefined {
  const module = moduleUri(uri);
  const file = module ?? (uri.scheme === LARGE_TEXT_SCHEME ? uri.with({ scheme: "file" }) : uri);
  if (file.scheme !== "file" || !/\.(mlir|vmfb)$/.test(file.path)) {
    return undefined;
  }
  const launch = { type: "iree", request: "launch", name: "Debug", program: file.fsPath };
  // A user of the disassembly wants to stop there, even if the module knows its source.
  return module === undefined ? launch : { ...launch, disassembly: true };
}
