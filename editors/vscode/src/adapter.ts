// The debug adapter is the program itself: `iree-dbg dap`, speaking on its standard streams.
// A configuration with `debugServer: PORT` is VS Code's own way to reach one that listens, and never comes here.

import * as vscode from "vscode";
import type { Binary } from "./binary";

export class AdapterFactory implements vscode.DebugAdapterDescriptorFactory {
  constructor(private readonly binary: Binary) {}

  createDebugAdapterDescriptor(): vscode.DebugAdapterDescriptor {
    // Directory and environment go with the launch request: a `cwd` that does not exist gets the adapter's own message.
    return new vscode.DebugAdapterExecutable(this.binary.path(), ["dap"]);
  }
}
