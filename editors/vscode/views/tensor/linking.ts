// The linked view: telling it where this one is, going where it is, and the button with which that begins and ends.

import { make } from "../dom";
import { followed, linkText, type Position } from "./link";
import { indices, shownAxes, sizes } from "./slices";
import { redraw, set, state, tell } from "./state";

/** Where this view is. */
export function position(): Position {
  const [rows, columns] = shownAxes().length === 2 ? shownAxes() : [undefined, shownAxes()[0]];
  const windows = state.slice.map((_, axis) => (axis === rows ? state.rows : axis === columns ? state.columns : null));
  return { shape: sizes(), slice: state.slice, at: indices(), windows };
}

/** Where the other one was last told that this one is. */
let told = "";

/** Tells the linked view where this one is, if that has changed. */
export function moved(): void {
  if (state.link?.isOn !== true || state.shape === undefined) {
    return;
  }
  const at = position();
  const text = JSON.stringify(at);
  if (text !== told) {
    told = text;
    tell({ kind: "moved", at });
  }
}

/** Goes where the linked view is. Returns what has changed: other axes are shown, or another part of the same ones. */
export function follow(other: Position): "axes" | "part" | undefined {
  const { link } = state;
  if (link === undefined || state.shape === undefined) {
    return undefined;
  }
  set({ link: { ...link, shape: other.shape } });
  redraw.links();
  const to = link.isOn ? followed(position(), other) : undefined;
  if (to === undefined) {
    return undefined;
  }
  const shownBefore = shownAxes().join();
  const before = JSON.stringify(position());
  state.slice = to.slice;
  const axes = shownAxes();
  const [rows, columns] = axes.length === 2 ? axes : [undefined, axes[0]];
  const part = (axis: number | undefined): readonly [number, number] =>
    (axis === undefined ? undefined : to.windows[axis]) ?? [0, axis === undefined ? 1 : (sizes()[axis] ?? 1)];
  const place = (axis: number | undefined): number => (axis === undefined ? 0 : (to.at[axis] ?? 0));
  set({ rows: part(rows), columns: part(columns), cursor: [place(rows), place(columns)] });
  const after = JSON.stringify(position());
  // It is not told of what it has told.
  told = after;
  if (before === after) {
    return undefined;
  }
  return shownBefore === shownAxes().join() ? "part" : "axes";
}

/** A view is linked with this one, or no longer. */
export function linked(title: string | null): void {
  set({ link: title === null ? undefined : { title, isOn: true, shape: undefined, text: undefined } });
  told = "";
  redraw.links();
  moved();
}

/** Lets both follow one another, or no longer: of both, the buttons say the same. */
export function setFollowing(isOn: boolean): void {
  if (state.link !== undefined) {
    // What the other one has elsewhere is not of interest.
    set({ link: { ...state.link, isOn, text: undefined } });
    document.getElementById("other-at")?.replaceChildren();
    redraw.links();
  }
}

/** The button, and what the other view has at the cursor. */
export const linkBar = (): HTMLElement => make("span", { class: "bar", id: "links" });

export function drawLinks(): void {
  const place = document.getElementById("links");
  if (place === null) {
    return;
  }
  const focused = document.activeElement?.id;
  place.replaceChildren(...parts());
  if (focused) {
    document.getElementById(focused)?.focus();
  }
}

function parts(): HTMLElement[] {
  const { link } = state;
  if (link === undefined) {
    const title = "Show another tensor beside this one, with the same cursor, slice and zoom";
    const open = (): void => tell({ kind: "link" });
    return [make("button", { type: "button", id: "link", title, onclick: open }, "Open Beside, Linked…")];
  }
  const toggle = (): void => {
    tell({ kind: "following", isOn: !link.isOn });
    setFollowing(!link.isOn);
    // The other one comes to where this one is.
    told = "";
    moved();
  };
  const why = link.shape === undefined ? "" : linkText(sizes(), link.shape);
  const title = "The views follow one another";
  return [
    make(
      "button", { type: "button", id: "linked", title, "aria-pressed": String(link.isOn), onclick: toggle }, "Linked",
    ),
    make("span", { class: "dim", role: "status", id: "link-text" }, `with ${link.title}${why && `: ${why}`}`),
  ];
}
