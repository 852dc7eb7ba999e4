// What all web views have in common: a page that loads nothing but this extension's own style and script.

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

/** The page of a web view: its style is `media/NAME.css`, and its script the module `media/NAME.js`, or plain scripts in their order. */
export function page(webview: vscode.Webview, extension: vscode.Uri, name: string, title: string, plain?: readonly string[]): string {
  const file = (of: string): string => webview.asWebviewUri(vscode.Uri.joinPath(extension, "media", of)).toString();
  const nonce = randomBytes(16).toString("base64");
  const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'; img-src data: blob:`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${file(`${name}.css`)}">
<title>${title}</title>
</head>
<body>
<main></main>
${(plain ?? [name]).map((script) => `<script${plain === undefined ? ' type="module"' : ""} nonce="${nonce}" src="${file(`${script}.js`)}"></script>`).join("\n")}
</body>
</html>`;
}

/** The folder that web views load from. */
export function mediaOf(extension: vscode.Uri): vscode.Uri {
  return vscode.Uri.joinPath(extension, "media");
}
