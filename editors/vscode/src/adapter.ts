// Starts the debug adapter: `iree-dbg dap` on its standard streams. To attach, connects to the adapter of a program:
// `iree-dbg run --listen=HOST:PORT`. VS Code handles configurations with `debugServer: PORT` itself.

import * as vscode from "vscode";
import type { Binary } from "./binary";

export class AdapterFactory implements vscode.DebugAdapterDescriptorFactory {
  constructor(private readonly binary: Binary) {}

  createDebugAdapterDescriptor({ configuration }: vscode.DebugSession): vscode.DebugAdapterDescriptor {
    if (configuration.request === "attach") {
      return new vscode.DebugAdapterServer(Number(configuration["port"]), String(configuration["host"] ?? "127.0.0.1"));
    }
    // The launch request has the directory and the environment: the adapter reports a `cwd` that does not exist.
    return new vscode.DebugAdapterExecutable(this.binary.path(), ["dap"]);
  }
}
