// Views of tensors that are linked, two by two: what one tells, the other hears.

import * as vscode from "vscode";
import type { ToPage } from "../../views/tensor/protocol";

/** A view that can be linked. */
export interface Linkable {
  readonly title: string;
  readonly tell: (message: ToPage) => void;
}

/** The open views. */
const open = new Set<Linkable>();
const pairs = new Map<Linkable, Linkable>();

/** A view is there; until it is disposed of, it can be linked. */
export function register(view: Linkable): vscode.Disposable {
  open.add(view);
  return {
    dispose: () => {
      open.delete(view);
      part(view);
    },
  };
}

/** Links two views; each is linked with one other. */
export function link(one: Linkable, other: Linkable): void {
  part(one);
  part(other);
  pairs.set(one, other).set(other, one);
  one.tell({ kind: "linked", title: other.title });
  other.tell({ kind: "linked", title: one.title });
}

function part(view: Linkable): void {
  const other = pairs.get(view);
  if (other !== undefined) {
    pairs.delete(view);
    pairs.delete(other);
    view.tell({ kind: "linked", title: null });
    other.tell({ kind: "linked", title: null });
  }
}

/** Tells the view that is linked with another one. */
export function pass(from: Linkable, message: ToPage): void {
  pairs.get(from)?.tell(message);
}

/** The view that it is linked with, so that a page that was loaded again knows it. */
export const partner = (of: Linkable): Linkable | undefined => pairs.get(of);

/** Lets the user choose a view that is open, or another tensor, which `another` opens. */
export async function choosePartner(of: Linkable, another: () => Promise<Linkable | undefined>): Promise<Linkable | undefined> {
  const others = [...open].filter((view) => view !== of);
  if (others.length === 0) {
    return another();
  }
  const items = [
    ...others.map((view) => ({ label: view.title, description: "open", view: view as Linkable | undefined })),
    { label: "Another Tensor…", description: "", view: undefined },
  ];
  const chosen = await vscode.window.showQuickPick(items, { title: `Link ${of.title} with` });
  return chosen && (chosen.view ?? another());
}
