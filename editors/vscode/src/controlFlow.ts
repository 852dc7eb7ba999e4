// The control-flow graph of a function, beside the code. The server draws it; the page has no script.

import * as vscode from "vscode";

/** The server's command that draws it. */
export const CONTROL_FLOW = "iree-dbg.controlFlow";

export function isPicture(answer: unknown): answer is { svg: string } {
  return typeof answer === "object" && answer !== null && "svg" in answer && typeof answer.svg === "string";
}

export function showPicture(svg: string): void {
  const column = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
  const panel = vscode.window.createWebviewPanel("iree-dbg.controlFlow", "Control flow", column, {
    enableFindWidget: true,
  });
  const picture = Buffer.from(svg, "utf8").toString("base64");
  panel.webview.html = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:">
<title>Control flow</title>
</head>
<body><img alt="The blocks of the function and the edges between them" src="data:image/svg+xml;base64,${picture}"></body>
</html>`;
}
