// What a value is called in the text, for the debugger's hover and for the values that VS Code prints beside the code.

import * as vscode from "vscode";
import { definitionsIn, expressionOf, firstLineOfFunction, usesIn, type ValueName, valueAt } from "./valueNames";

const SELECTOR = [{ language: "mlir" }, { language: "vmasm" }];

export function registerValues(): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.languages.registerEvaluatableExpressionProvider(SELECTOR, new HoveredValue()),
    vscode.languages.registerInlineValuesProvider(SELECTOR, new InlineValues()),
  );
}

/** `%x` under the pointer, and of `%r#1` all of it. */
class HoveredValue implements vscode.EvaluatableExpressionProvider {
  provideEvaluatableExpression(
    document: vscode.TextDocument,
    position: vscode.Position,
  ): vscode.EvaluatableExpression | undefined {
    const value = valueAt(document.lineAt(position.line).text, position.character, document.languageId);
    return value && new vscode.EvaluatableExpression(rangeOf(position.line, value), expressionOf(value));
  }
}

/**
 * What the stopped line uses, and above it, up to the head of the function, what each line defined. A register of
 * .vmasm may hold another value by now than the one an earlier line gave it, so there only the stopped line counts.
 */
class InlineValues implements vscode.InlineValuesProvider {
  provideInlineValues(
    document: vscode.TextDocument,
    viewPort: vscode.Range,
    { stoppedLocation }: vscode.InlineValueContext,
  ): vscode.InlineValue[] {
    const lineAt = (line: number): string => document.lineAt(line).text;
    const stopped = stoppedLocation.end.line;
    const values = usesIn(lineAt(stopped), document.languageId).map((value) => lookup(stopped, value));
    if (document.languageId === "mlir") {
      const first = Math.max(viewPort.start.line, firstLineOfFunction(lineAt, stopped));
      for (let line = first; line < stopped; line++) {
        values.push(...definitionsIn(lineAt(line)).map((value) => lookup(line, value)));
      }
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
