// One run of `iree-dbg diff`: a process that says what it is at, and that can be cancelled.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type * as vscode from "vscode";
import type { Report } from "../../views/module/report";
import { reportOf } from "./report";

/** Runs it to its end. Undefined: it was cancelled. */
export function runDiff(
  program: string, args: readonly string[], cwd: string | undefined, token: vscode.CancellationToken, say: (text: string) => void,
): Promise<Report | undefined> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ["diff", "--json", "--progress", ...args], { ...(cwd !== undefined && { cwd }), stdio: ["ignore", "pipe", "pipe"] });
    const cancelled = token.onCancellationRequested(() => child.kill());
    const output: Buffer[] = [];
    const errors: string[] = [];
    child.stdout.on("data", (data: Buffer) => output.push(data));
    createInterface({ input: child.stderr }).on("line", (line) => {
      const at = /^progress: (.*)$/.exec(line)?.[1];
      if (at === undefined) {
        errors.push(line);
      } else {
        say(at);
      }
    });
    child.on("error", (error) => {
      cancelled.dispose();
      reject(error);
    });
    child.on("close", () => {
      cancelled.dispose();
      if (token.isCancellationRequested) {
        resolve(undefined);
        return;
      }
      try {
        resolve(reportOf(Buffer.concat(output).toString(), errors.join("\n")));
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  });
}
