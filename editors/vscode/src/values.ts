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
 * register may have changed since an earlier line, so there only the stopped line counts. A name without a value has
 * its reason in Variables, not beside the code.
 */
class InlineValues implements vscode.InlineValuesProvider {
  async provideInlineValues(
    document: vscode.TextDocument,
    _viewPort: vscode.Range,
    { frameId, stoppedLocation }: vscode.InlineValueContext,
  ): Promise<vscode.InlineValue[]> {
    const known = await valuesIn(frameId);
    const lineAt = (line: number): string => document.lineAt(line).text;
    const stopped = stoppedLocation.end.line;
    const places = usesIn(lineAt(stopped), document.languageId).map((name): [number, ValueName] => [stopped, name]);
    if (document.languageId === "mlir") {
      places.push(...definedBefore(lineAt, firstLineOfFunction(lineAt, stopped), stopped));
    }
    return places.flatMap(([line, name]) => {
      const value = known.get(name.name);
      const isMissing = value === undefined || value.startsWith("<");
      return isMissing ? [] : [new vscode.InlineValueText(rangeOf(line, name), `${name.name} = ${value}`)];
    });
  }
}

interface Scopes {
  scopes: { variablesReference: number; expensive: boolean }[];
}

interface Variables {
  variables: { name: string; value: string }[];
}

/** What the names of a frame are shown as, by the innermost scope that has them. */
async function valuesIn(frameId: number): Promise<Map<string, string>> {
  const known = new Map<string, string>();
  const session = vscode.debug.activeDebugSession;
  if (!session) {
    return known;
  }
  const { scopes } = (await session.customRequest("scopes", { frameId })) as Scopes;
  for (const { variablesReference, expensive } of scopes) {
    if (expensive) {
      continue;
    }
    const { variables } = (await session.customRequest("variables", { variablesReference })) as Variables;
    for (const { name, value } of variables) {
      // The name may mean another value in a scope around it.
      if (!known.has(name)) {
        known.set(name, value);
      }
    }
  }
  return known;
}

function rangeOf(line: number, { start, end }: ValueName): vscode.Range {
  return new vscode.Range(line, start, line, end);
}
