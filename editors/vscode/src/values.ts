// The expressions for values in the text, for the debugger's hovers and for the values beside the code.

import * as vscode from "vscode";
import { type AdapterMessage, announcesAbsent, hasValue, type Variable } from "./absent";
import { fitting, short } from "./inlineText";
import { lookAt } from "./tensors/hover";
import { definedBefore, expressionOf, firstLineOfFunction, usesIn, type ValueName, valueAt } from "./valueNames";

const SELECTOR = [{ language: "mlir" }, { language: "vmasm" }];

export function registerValues(): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.languages.registerEvaluatableExpressionProvider(SELECTOR, new HoveredValue()),
    vscode.languages.registerInlineValuesProvider(SELECTOR, new InlineValues()),
    vscode.debug.registerDebugAdapterTrackerFactory("iree", {
      createDebugAdapterTracker: (session) => ({
        onDidSendMessage: (message: AdapterMessage) => {
          if (announcesAbsent(message)) {
            telling.add(session);
          }
        },
      }),
    }),
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
 * The values that the stopped line uses, and those that the visible lines above it in the function have defined. In
 * .vmasm a register may have changed since an earlier line, so there only the stopped line counts. A name without a value
 * has its reason in Variables, not beside the code.
 */
class InlineValues implements vscode.InlineValuesProvider {
  async provideInlineValues(
    document: vscode.TextDocument,
    viewPort: vscode.Range,
    { frameId, stoppedLocation }: vscode.InlineValueContext,
  ): Promise<vscode.InlineValue[]> {
    const known = await valuesIn(frameId);
    const lineAt = (line: number): string => document.lineAt(line).text;
    const stopped = stoppedLocation.end.line;
    const byLine = new Map([[stopped, usesIn(lineAt(stopped), document.languageId)]]);
    if (document.languageId === "mlir") {
      for (const [line, name] of definedIn(document, [viewPort], stopped)) {
        byLine.set(line, [...(byLine.get(line) ?? []), name]);
      }
    }
    return [...byLine].flatMap(([line, names]) => {
      const texts = names.flatMap((name) => {
        const value = known.get(name.name);
        return value === undefined ? [] : [{ name, text: `${name.name} = ${short(value)}` }];
      });
      // The stopped line has all of its values: what wraps there moves only the lines below it.
      const shown = line === stopped ? texts : fitting(lineAt(line), texts);
      return shown.map(({ name, text }) => new vscode.InlineValueText(rangeOf(line, name), text));
    });
  }
}

/** The values that the visible lines above a stop define in its function, each with its line. */
export function definedIn(document: vscode.TextDocument, visible: readonly vscode.Range[], stopped: number): [number, ValueName][] {
  const lineAt = (line: number): string => document.lineAt(line).text;
  const defined = definedBefore(lineAt, firstLineOfFunction(lineAt, stopped), stopped);
  return defined.filter(([line]) => visible.some(({ start, end }) => start.line <= line && line <= end.line));
}

interface Scopes {
  readonly scopes: readonly { readonly variablesReference: number; readonly expensive: boolean }[];
}

interface Variables {
  readonly variables: readonly Variable[];
}

/** The sessions whose adapters tell which variables have no value. */
const telling = new WeakSet<vscode.DebugSession>();

/** The values of the names of a frame. A name without a value has none here. */
async function valuesIn(frameId: number): Promise<Map<string, string>> {
  const session = vscode.debug.activeDebugSession;
  if (!session) {
    return new Map();
  }
  const variables = await variablesIn(session, frameId);
  const present = [...variables].filter(([, variable]) => hasValue(variable, telling.has(session)));
  return new Map(present.map(([name, { value }]) => [name, value]));
}

/** What the names of a frame stand for, by the innermost scope that has them. */
export async function variablesIn(session: vscode.DebugSession, frameId: number): Promise<Map<string, Variable>> {
  const known = new Map<string, Variable>();
  const { scopes } = (await session.customRequest("scopes", { frameId })) as Scopes;
  for (const { variablesReference, expensive } of scopes) {
    if (expensive) {
      continue;
    }
    const { variables } = (await session.customRequest("variables", { variablesReference })) as Variables;
    for (const variable of variables) {
      // The name may mean another value in a scope around it.
      if (!known.has(variable.name)) {
        known.set(variable.name, variable);
      }
    }
  }
  return known;
}

function rangeOf(line: number, { start, end }: ValueName): vscode.Range {
  return new vscode.Range(line, start, line, end);
}
