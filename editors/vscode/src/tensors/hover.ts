// The hover over the name of a tensor while its program is stopped: a small picture, what the tensor is like, and a way to
// its view. The debugger's own hover would be there instead, so `values.ts` leaves tensors to this one.

import * as vscode from "vscode";
import type { Answer, Cells, Question, Statistics } from "../../views/tensor/answers";
import { expressionOf, valueAt } from "../valueNames";
import { frameOf, tensorAt } from "./session";
import { thumbnail } from "./thumbnail";

/** A tensor with its cells. */
type Looked = Answer & { readonly cells: Cells };

/** Of so many elements, the figures are there at once. */
const MOST_MEASURED = 1 << 21;
const CELLS: NonNullable<Question["cells"]> = { height: 40, width: 40, reduction: "mean" };

/** What the name stands for, if that is a tensor of more than one element. */
export async function lookAt(document: vscode.TextDocument, position: vscode.Position): Promise<(Looked & { readonly expression: string; readonly range: vscode.Range }) | undefined> {
  const session = vscode.debug.activeDebugSession;
  const value = valueAt(document.lineAt(position.line).text, position.character, document.languageId);
  if (session?.type !== "iree" || value === undefined || vscode.debug.activeStackItem === undefined) {
    return undefined;
  }
  const expression = expressionOf(value);
  const looked = await tensorAt<{ readonly cells: Cells }>(session, { expression, cells: CELLS, frameId: frameOf(session) });
  return looked && { ...looked, expression, range: new vscode.Range(position.line, value.start, position.line, value.end) };
}

export function registerTensorHovers(): vscode.Disposable {
  return vscode.languages.registerHoverProvider([{ language: "mlir" }], {
    async provideHover(document, position) {
      const looked = await lookAt(document, position);
      const session = vscode.debug.activeDebugSession;
      if (looked === undefined || session === undefined) {
        return undefined;
      }
      const { expression, type, slice, shape, cells, range } = looked;
      const text = new vscode.MarkdownString(undefined, true);
      text.isTrusted = { enabledCommands: ["iree-dbg.viewTensor"] };
      text.supportHtml = false;
      text.appendMarkdown(`\`${expression}: ${type}\`\n\n![a picture of ${type}](${thumbnail(cells)})\n\n`);
      if (shape.reduce((count, size) => count * size, 1) <= MOST_MEASURED) {
        const answer: { readonly statistics: Statistics } = await session.customRequest("iree/tensor", { expression, statistics: 0, frameId: frameOf(session) });
        text.appendText(inWords(answer.statistics));
        text.appendMarkdown("\n\n");
      }
      const part = shape.length > 2 ? ` · \`${slice}\` of it` : "";
      text.appendMarkdown(`[View Tensor](command:iree-dbg.viewTensor?${encodeURIComponent(JSON.stringify([{ expression }]))})${part}`);
      return new vscode.Hover(text, range);
    },
  });
}

function inWords({ minimum, maximum, mean, deviation, nans, positiveInfinities, negativeInfinities }: Statistics): string {
  const short = (value: number): string => String(Number(value.toPrecision(4)));
  const infinities = positiveInfinities + negativeInfinities;
  return [
    ...(minimum && maximum ? [`min ${minimum.text}, max ${maximum.text}`] : []),
    ...(mean !== null && deviation !== null ? [`μ ${short(mean)} σ ${short(deviation)}`] : []),
    ...(nans > 0 ? [`${nans} NaN`] : []),
    ...(infinities > 0 ? [`${infinities} inf`] : []),
  ].join(" · ");
}
