// What a value is called in the text, for the debugger's hover and for the values that VS Code prints beside the code.

import * as vscode from "vscode";
import { firstLineOfFunction, valueAt, valuesIn } from "./valueNames";

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
    return value && new vscode.EvaluatableExpression(rangeOf(position.line, value), value.name);
  }
}

/** Every value from the head of the stopped function to the stopped line. */
class InlineValues implements vscode.InlineValuesProvider {
  provideInlineValues(
    document: vscode.TextDocument,
    viewPort: vscode.Range,
    { stoppedLocation }: vscode.InlineValueContext,
  ): vscode.InlineValue[] {
    const lineAt = (line: number): string => document.lineAt(line).text;
    const first = Math.max(viewPort.start.line, firstLineOfFunction(lineAt, stoppedLocation.end.line));
    const values: vscode.InlineValue[] = [];
    for (let line = first; line <= stoppedLocation.end.line; line++) {
      for (const value of valuesIn(lineAt(line), document.languageId)) {
        values.push(new vscode.InlineValueVariableLookup(rangeOf(line, value), value.name, true));
      }
    }
    return values;
  }
}

function rangeOf(line: number, { start, end }: { start: number; end: number }): vscode.Range {
  return new vscode.Range(line, start, line, end);
}
