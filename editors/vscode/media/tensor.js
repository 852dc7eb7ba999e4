// The page of src/tensors/panel.ts. It asks for the cells that the canvas can show (`iree/tensor`), so a tensor of any size
// costs the same; figures follow in a question of their own. Its parts are in `media/tensor`.

import { measure, point, refresh, remember } from "./tensor/actions.js";
import { ask, code, redraw, state, waiting } from "./tensor/state.js";
import "./tensor/view.js";

let resized;
addEventListener("resize", () => {
  clearTimeout(resized);
  resized = setTimeout(() => state.shape && void refresh(), 80);
});

addEventListener("message", ({ data }) => {
  switch (data.kind) {
    case "show":
      Object.assign(state, data);
      state.name = data.tensors?.length > 1 ? data.tensors[0].name : data.tensors?.[0]?.name;
      redraw.page();
      void refresh().then(measure).then(() => remember());
      return;
    case "failed":
      Object.assign(state, { title: data.title, error: data.error });
      return redraw.page();
    case "answer": {
      const { resolve, reject } = waiting.get(data.id) ?? {};
      waiting.delete(data.id);
      return data.error === undefined ? resolve?.(data.body) : reject?.(new Error(data.error));
    }
    case "stopped":
      Object.assign(state, { place: data.place, note: "", moment: undefined });
      return void again();
    case "running":
      state.note = "running …";
      return redraw.place();
    case "ended":
      Object.assign(state, { note: "the session has ended", session: undefined });
      redraw.picture();
      return redraw.place();
  }
});

/** The program has stopped elsewhere: the same view of what the tensor is now, in another shape perhaps. */
async function again() {
  try {
    const { shape, type, elementType } = await ask({});
    if (JSON.stringify(shape) !== JSON.stringify(state.shape)) {
      state.shape = undefined;
    }
    Object.assign(state, { type, element: elementType, error: undefined });
    redraw.place();
    await refresh();
    await measure();
    await point();
    await remember();
  } catch (error) {
    state.error = String(error.message ?? error);
    redraw.place();
    redraw.picture();
  }
}

code.postMessage({ kind: "ready" });
