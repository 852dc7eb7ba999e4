// What an error says, and telling the user of it.

import * as vscode from "vscode";

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Does something of which the user hears if it fails. */
export async function tellFailure(act: () => unknown): Promise<void> {
  try {
    await act();
  } catch (error) {
    void vscode.window.showErrorMessage(textOf(error));
  }
}
