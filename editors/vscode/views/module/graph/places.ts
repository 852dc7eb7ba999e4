// What a click on a box or on a command asks of the extension.

import { shown, state, tell } from "../state";
import { prepared } from "./overlays";

/** Where a box is in the source. A session knows the file's path; the module, only what the compiler was told. */
export function placeOf(index: number): { readonly file: string; readonly line: number } | undefined {
  const node = shown()?.nodes[index];
  const known = prepared.overlays[index];
  const [file, line] = [known?.path ?? node?.file, known?.line ?? node?.line];
  return file === undefined || line === undefined ? undefined : { file, line };
}

export function goToSource(index: number, keepFocus = false): void {
  const place = placeOf(index);
  if (place !== undefined) {
    tell({ kind: "source", ...place, keepFocus });
  }
}

/** Lets a stopped program run to before a dispatch; without a session, one begins that does. */
export function runTo(index: number): void {
  const node = shown()?.nodes[index];
  if (node?.kind === "dispatch" && canRunTo()) {
    tell({ kind: "runTo", id: node.id, function: shown()?.name ?? "", ...placeOf(index) });
  }
}

export const hasSession = (): boolean => state.session !== undefined && state.session !== "ended";

/** A program that runs has to stop first. */
export const canRunTo = (): boolean => !hasSession() || state.session === "stopped";

export function breakAt(index: number): void {
  const place = placeOf(index);
  if (place !== undefined) {
    tell({ kind: "break", ...place });
  }
}

/** A recorded program that stands still goes to any command that has run. */
export const canGoTo = (command: number | null | undefined): command is number =>
  state.runs?.isRecorded === true && state.session === "stopped" && typeof command === "number";

export const goTo = (command: number): void => tell({ kind: "goTo", command });
