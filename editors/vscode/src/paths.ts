// Paths: settings with variables, and the places on the PATH where a program may be. Does not use VS Code, so that the
// unit tests do not need it.

import { delimiter, isAbsolute, join } from "node:path";

/** Replaces `${workspaceFolder}` and a leading `~` in a setting's value. */
export function expandSetting(value: string, workspaceFolder: string | undefined, home: string | undefined): string {
  let expanded = value;
  if (workspaceFolder !== undefined) {
    expanded = expanded.replaceAll("${workspaceFolder}", workspaceFolder);
  }
  if (home !== undefined && /^~(?=$|[\\/])/.test(expanded)) {
    expanded = home + expanded.slice(1);
  }
  return expanded;
}

/** Where `pip install` puts `program` in the Python environments that a folder usually has. */
export function inEnvironments(program: string, folder: string, platform: NodeJS.Platform): string[] {
  const place = platform === "win32" ? ["Scripts", `${program}.exe`] : ["bin", program];
  return [".venv", "venv"].map((environment) => join(folder, environment, ...place));
}

/** Every file that a shell would try for `program`, in its order. */
export function candidates(
  program: string,
  environment: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): string[] {
  const file = platform === "win32" ? `${program}.exe` : program;
  return (environment["PATH"] ?? environment["Path"] ?? "")
    .split(delimiter)
    // A relative path would depend on the open folder.
    .filter((directory) => isAbsolute(directory))
    .map((directory) => join(directory, file));
}
