// What all web views have in common: a page that loads nothing but this extension's own style and script, and messages to
// it. The pages' own side is in `views/`, each with a bundle of its own.

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type * as argumentsPage from "../views/arguments/protocol";
import type * as modulePage from "../views/module/protocol";
import type * as tensorPage from "../views/tensor/protocol";

/** The pages by their folders in `views/`, and the messages that come from them and go to them. */
interface Pages {
  readonly arguments: { readonly from: argumentsPage.FromPage; readonly to: argumentsPage.ToPage };
  readonly module: { readonly from: modulePage.FromPage; readonly to: modulePage.ToPage };
  readonly tensor: { readonly from: tensorPage.FromPage; readonly to: tensorPage.ToPage };
}

/** Sends a message to a page. */
export type Tell<Name extends keyof Pages> = (message: Pages[Name]["to"]) => void;

/** Lets a web view show a page, and hears its messages. */
export function openPage<Name extends keyof Pages>(
  webview: vscode.Webview,
  extension: vscode.Uri,
  { name, title }: { readonly name: Name; readonly title: string },
  hear: (message: Pages[Name]["from"]) => unknown,
): Tell<Name> {
  const folder = vscode.Uri.joinPath(extension, "dist/views");
  const address = (file: string): string => webview.asWebviewUri(vscode.Uri.joinPath(folder, file)).toString();
  webview.options = { enableScripts: true, localResourceRoots: [folder] };
  webview.onDidReceiveMessage(hear);
  webview.html = page(webview, address, name, title);
  return (message) => void webview.postMessage(message);
}

function page(webview: vscode.Webview, address: (file: string) => string, name: string, title: string): string {
  const nonce = randomBytes(16).toString("base64");
  const policy = [
    "default-src 'none'", `style-src ${webview.cspSource}`, `script-src 'nonce-${nonce}'`, "img-src data: blob:",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${address(`${name}.css`)}">
<title>${title}</title>
</head>
<body>
<main></main>
<script type="module" nonce="${nonce}" src="${address(`${name}.js`)}"></script>
</body>
</html>`;
}
