// The expressions for values in the text, for the debugger's hovers and for the values beside the code.

import * as vscode from "vscode";
import { lookAt } from "./tensors/hover";
import { definedBefore, expressionOf, firstLineOfFunction, usesIn, type ValueName, valueAt } from "./valueNames";

const SELECTOR = [{ language: "mlir" }, { language: "vmasm" }];

export function registerValues(): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.languages.registerEvaluatableExpressionProvider(SELECTOR, new HoveredValue()),
    vscode.languages.registerInlineValuesProvider(SELECTOR, new InlineValues()),
  );
}

/** The expression for the value under the pointer. Tensors have a hover of their own (`tensors/hover.ts`). */
class HoveredValue implements vscode.EvaluatableExpressionProvider {
  async provideEvaluatableExpression(
    document: vscode.TextDocument,
    position: vscode.Position,
  ): Promise<vscode.EvaluatableExpression | undefined> {
    if (await lookAt(document, position)) {
      return undefined;
    }
    const value = valueAt(document.lineAt(position.line).text, position.character, document.languageId);
    return value && new vscode.EvaluatableExpression(rangeOf(position.line, value), expressionOf(value));
  }
}

/**
 * The values that the stopped line uses, and those that the lines above it in the function have defined. In .vmasm a
 * register may have changed since an earlier line, so there only the stopped line counts.
 */
class InlineValues implements vscode.InlineValuesProvider {
  provideInlineValues(
    document: vscode.TextDocument,
    _viewPort: vscode.Range,
    { stoppedLocation }: vscode.InlineValueContext,
  ): vscode.InlineValue[] {
    const lineAt = (line: number): string => document.lineAt(line).text;
    const stopped = stoppedLocation.end.line;
    const values = usesIn(lineAt(stopped), document.languageId).map((value) => lookup(stopped, value));
    if (document.languageId === "mlir") {
      const first = firstLineOfFunction(lineAt, stopped);
      values.push(...definedBefore(lineAt, first, stopped).map(([line, value]) => lookup(line, value)));
    }
    return values;
  }
}

function lookup(line: number, value: ValueName): vscode.InlineValueVariableLookup {
  return new vscode.InlineValueVariableLookup(rangeOf(line, value), value.name, true);
}

function rangeOf(line: number, { start, end }: ValueName): vscode.Range {
  return new vscode.Range(line, start, line, end);
}
