// The debug adapter is the program itself: `iree-dbg dap`, speaking on its standard streams. To attach, it is the one
// that runs in the program: `iree-dbg run --listen=HOST:PORT`. A configuration with `debugServer: PORT` is VS Code's own way to reach one that listens, and never comes here.

import * as vscode from "vscode";
import type { Binary } from "./binary";

export class AdapterFactory implements vscode.DebugAdapterDescriptorFactory {
  constructor(private readonly binary: Binary) {}

  createDebugAdapterDescriptor({ configuration }: vscode.DebugSession): vscode.DebugAdapterDescriptor {
    if (configuration.request === "attach") {
      return new vscode.DebugAdapterServer(Number(configuration["port"]), String(configuration["host"] ?? "127.0.0.1"));
    }
    // Directory and environment go with the launch request: a `cwd` that does not exist gets the adapter's own message.
    return new vscode.DebugAdapterExecutable(this.binary.path(), ["dap"]);
  }
}
