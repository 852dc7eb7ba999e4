// The page of src/tensors/page.ts: a tensor as a picture, an image or a table, with its figures. This is what it does
// with the messages of the extension.

import { compareWith, measureIfSliced, remember } from "./actions";
import { measure, point, refresh } from "./asking";
import { follow, linked, setFollowing } from "./linking";
import type { Origin, Shown } from "./protocol";
import { ask, hear, redraw, set, state, takeAnswer, tell, textOf } from "./state";
import { summariseAgain } from "./summing";
import { lookAgain } from "./times";
import "./view";

let resized: ReturnType<typeof setTimeout> | undefined;
addEventListener("resize", () => {
  clearTimeout(resized);
  resized = setTimeout(() => state.shape && void refresh(), 80);
});

hear((message) => {
  switch (message.kind) {
    case "show":
      return void show(message);
    case "failed":
      set({ title: message.title, error: message.error });
      return redraw.page();
    case "answer":
      return takeAnswer(message);
    case "linked":
      return linked(message.title);
    case "follow":
      return goAlong(follow(message.at));
    case "following":
      return setFollowing(message.isOn);
    case "otherPointed":
      return showOther(message.text);
    case "stopped":
      set({ place: message.place, note: "", moment: undefined });
      return void again();
    case "running":
      state.note = "running …";
      return redraw.place();
    case "ended":
      set({ note: "the session has ended", session: undefined });
      redraw.picture();
      return redraw.place();
  }
});

/** This view has followed the linked one. */
function goAlong(changed: ReturnType<typeof follow>): void {
  if (changed === undefined) {
    return;
  }
  if (changed === "axes") {
    redraw.page();
  } else {
    redraw.slice();
    redraw.picture();
  }
  void refresh();
  void point();
  measureIfSliced();
}

/** What the linked view has at the cursor. */
function showOther(text: string): void {
  if (state.link !== undefined) {
    set({ link: { ...state.link, text } });
    const place = document.getElementById("other-at");
    if (place !== null) {
      place.textContent = text;
    }
  }
}

async function show({ title, origin, comparisons, hasMoments, hasHistory, comparedWith }: Shown): Promise<void> {
  set({ title, comparisons, hasMoments, hasHistory, ...begun(origin) });
  redraw.page();
  if (comparedWith !== undefined) {
    return compareWith(comparedWith);
  }
  await refresh();
  await measure();
  await remember();
}

/** What is known of a tensor by where it comes from. */
function begun(origin: Origin): Parameters<typeof set>[0] {
  if ("tensors" in origin) {
    return { tensors: origin.tensors, name: origin.first ?? origin.tensors[0]?.name };
  }
  return { place: origin.place, expression: origin.expression, session: origin.session };
}

/** The program has stopped elsewhere: the same view of what the tensor is now, in another shape perhaps. */
async function again(): Promise<void> {
  try {
    const { shape, type } = await ask({});
    if (JSON.stringify(shape) !== JSON.stringify(state.shape)) {
      state.shape = undefined;
    }
    set({ type, error: undefined });
    redraw.place();
    await refresh();
    await measure();
    await point();
    summariseAgain();
    await remember();
  } catch (error) {
    state.error = textOf(error);
    redraw.place();
    redraw.picture();
  }
  // It has executions whether it has a value here or not.
  await lookAgain();
}

tell({ kind: "ready" });
