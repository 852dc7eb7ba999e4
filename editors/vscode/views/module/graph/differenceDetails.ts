// What a comparison says of the selected box: each tensor of a run with its figures, and a way to both sides of it.

import { make } from "../../dom";
import type { GraphNode } from "../answers";
import {
  allowedText, type Compared, farText, firstOf, nameOfTensor, NOT_THERE, numberText, summaryOf, VERDICTS,
} from "../compared";
import type { Differences, DispatchReport, Kept, TensorReport } from "../report";
import { state, tell } from "../state";
import { comparedAt } from "./difference";

/** The run that is shown of a box with several, by its index. */
let chosen: { readonly id: string; readonly run: number } | undefined;

const row = (name: string, value: Node | string, attributes = {}): HTMLElement[] =>
  [make("dt", {}, name), make("dd", attributes, value)];

/** Nothing, unless a comparison lies over the graph. */
export function differenceOf(node: GraphNode, again: () => void): Node[] {
  const compared = comparedAt(node);
  if (compared === undefined) {
    return [];
  }
  if (compared.members !== undefined) {
    return [make("h2", {}, "Comparison"), make("p", {}, summaryOf(compared.members))];
  }
  const index = chosen?.id === node.id ? chosen.run : firstOf(compared);
  const run = compared.runs[index];
  if (run === undefined) {
    return [
      make("h2", {}, "Comparison"),
      make("dl", {}, ...row("Verdict", VERDICTS.not_compared), ...row("Reason", NOT_THERE)),
    ];
  }
  return [
    make("h2", {}, "Comparison"),
    ...runChoice(node, compared, index, again),
    make("dl", { id: "difference-run" }, ...runRows(run)),
    ...run.tensors.flatMap(tensorPart),
    ...listed("It Reads What Differs Already", run.inputs),
  ];
}

const listed = (title: string, tensors: readonly TensorReport[]): Node[] =>
  tensors.length === 0 ? [] : [make("h2", {}, title), ...tensors.flatMap(tensorPart)];

/** Which run of a dispatch in a loop is shown. */
function runChoice({ id }: GraphNode, { runs }: Compared, index: number, again: () => void): Node[] {
  if (runs.length < 2) {
    return [];
  }
  const choice = make("select", { id: "difference-runs", "aria-label": "Run of this dispatch" });
  choice.append(...runs.map(({ number, verdict }, at) => {
    const text = `Run ${at + 1}, command ${number}: ${VERDICTS[verdict]}`;
    return make("option", { value: String(at), selected: at === index }, text);
  }));
  choice.addEventListener("change", () => {
    chosen = { id, run: Number(choice.value) };
    again();
  });
  return [choice];
}

function runRows(run: DispatchReport): HTMLElement[] {
  const { verdict, reason, name_b: other, compared_with: with_, judged, tensors } = run;
  const ofTensors = tensors.some((it) => it.reason === reason);
  return [
    ...row("Verdict", VERDICTS[verdict], { class: verdict === "differs" ? "error" : "" }),
    ...(reason === null || ofTensors ? [] : row("Reason", reason)),
    ...(with_ === null ? [] : row("Compared with", with_)),
    ...(other === null ? [] : row("On side B", `@${other}`)),
    ...(judged === null ? [] : row("Judgement", judged.sentence)),
  ];
}

function tensorPart(tensor: TensorReport): Node[] {
  const { type, verdict, reason, tolerance, differences, kept } = tensor;
  const figures = differences === null ? [] : figureRows(differences);
  return [
    make("h3", {}, nameOfTensor(tensor)),
    make("div", { class: "dim mono" }, type),
    make(
      "dl", {},
      ...row("Verdict", VERDICTS[verdict]),
      ...(reason === null ? [] : row("Reason", reason)),
      ...figures,
      ...(tolerance === null ? [] : row("Allowed", allowedText(tensor))),
      ...(differences?.pattern ? row("Pattern", differences.pattern) : []),
    ),
    ...keptPart(tensor, kept),
  ];
}

function figureRows(figures: Differences): HTMLElement[] {
  const { elements, different, beyond, worst, largest } = figures;
  const { nan_on_one_side: nans, infinite_on_one_side: infinities } = figures;
  const odd = [nans > 0 ? `${nans} NaN` : "", infinities > 0 ? `${infinities} infinite` : ""].filter((it) => it !== "");
  return [
    ...row("Elements", `${different} of ${elements} differ, ${beyond} by more than is allowed`),
    ...(odd.length === 0 ? [] : row("On one side only", odd.join(", "), { class: "error" })),
    ...row("Max |A−B|", farText(largest.absolute)),
    ...row("Max |A−B| / |B|", farText(largest.relative)),
    ...(largest.ulps === null ? [] : row("Max ULP", farText(largest.ulps))),
    ...row("Worst element", `[${worst.index.join(", ")}], apart by ${numberText(worst.difference)}`),
    ...row("There", `A ${worst.a}, B ${worst.b}`),
  ];
}

function keptPart(tensor: TensorReport, kept: Kept | null): Node[] {
  if (kept === null) {
    return [];
  }
  if ("left_out" in kept) {
    return [make("p", { class: "dim" }, `Both sides are not kept: ${kept.left_out}.`)];
  }
  const show = (): void => tell({ kind: "compareTensors", name: nameOfTensor(tensor), a: kept.a, b: kept.b });
  const title = "Opens A, B and |A−B| in the tensor view";
  const button = make("button", { class: "primary", title, onclick: show }, "Compare Tensors");
  return [make("div", { class: "actions" }, button)];
}

/** What a comparison says of the program as a whole. */
export function differenceOfProgram(): Node[] {
  const { comparison } = state;
  if (comparison === undefined) {
    return [];
  }
  const { sides: [, b], function: name, results, own, notes } = comparison.report;
  return [
    make("h2", {}, "Comparison"),
    make(
      "dl", {},
      ...row("A", state.file), ...row("B", b), ...row("Function", `@${name}`),
      ...(results.length === 0 ? [] : row("Results", summaryOf(results.map(({ verdict }) => verdict)))),
    ),
    ...results.filter(({ verdict }) => verdict !== "equal").flatMap(tensorPart),
    ...listed("Weights, Constants and Inputs That Differ", own.map(({ tensor }) => tensor)),
    ...(notes.length === 0 ? [] : [make("ul", { class: "plain dim" }, ...notes.map((note) => make("li", {}, note)))]),
  ];
}
