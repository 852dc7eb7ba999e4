// How a user moves in the graph of moduleGraph.js: pointer, wheel, keys and search.

// ---- The graph: moving ----

function fit(isFirst = false) {
  const has = shown();
  if (has === undefined || stage.clientWidth === 0) {
    return;
  }
  const whole = Math.min(stage.clientWidth / has.width, stage.clientHeight / has.height, 1.2);
  // At first, boxes are to be readable; the top of the model is where one begins to read.
  state.scale = isFirst && whole < 0.45 ? Math.min(0.8, Math.max(0.5, stage.clientWidth / has.width)) : whole;
  state.x = (stage.clientWidth - has.width * state.scale) / 2;
  state.y = state.scale > whole ? 0 : (stage.clientHeight - has.height * state.scale) / 2;
  if (isFirst && state.scale > whole) {
    const first = has.nodes.find((node) => node.kind === "dispatch") ?? has.nodes[0];
    state.x = stage.clientWidth / 2 - (first.x + first.width / 2) * state.scale;
  }
  draw();
}

function zoomBy(factor, at = [stage.clientWidth / 2, stage.clientHeight / 2]) {
  const scale = Math.min(4, Math.max(0.01, state.scale * factor));
  state.x = at[0] - ((at[0] - state.x) * scale) / state.scale;
  state.y = at[1] - ((at[1] - state.y) * scale) / state.scale;
  state.scale = scale;
  draw();
}

function moveBy(x, y) {
  state.x += x;
  state.y += y;
  draw();
}

/** Moves a box into view; far ones are moved to the middle. */
function moveTo(index, isCentred = false) {
  const node = shown().nodes[index];
  if (state.scale < 0.45) {
    state.scale = 0.8;
    isCentred = true;
  }
  const [left, top] = [node.x * state.scale + state.x, node.y * state.scale + state.y];
  const [width, height] = [node.width * state.scale, node.height * state.scale];
  if (isCentred || left < 8 || top < 8 || left + width > stage.clientWidth - 8 || top + height > stage.clientHeight - 8) {
    state.x = stage.clientWidth / 2 - (node.x + node.width / 2) * state.scale;
    state.y = stage.clientHeight / 2 - (node.y + node.height / 2) * state.scale;
  }
  draw();
}

function nodeAt(event) {
  const box = stage.getBoundingClientRect();
  const [x, y] = [(event.clientX - box.left - state.x) / state.scale, (event.clientY - box.top - state.y) / state.scale];
  const index = shown()?.nodes.findLastIndex((node) => x >= node.x && x <= node.x + node.width && y >= node.y && y <= node.y + node.height) ?? -1;
  return index < 0 ? undefined : index;
}

function select(index, { goes = false } = {}) {
  state.selected = index;
  if (index !== undefined) {
    const node = shown().nodes[index];
    stage.dataset.selected = node.title;
    spoken.textContent = `${node.title}, ${bare(node.operation)}, ${shapeText(node)}${node.line === undefined ? "" : `, line ${node.line}`}`;
    if (goes) {
      goToSource(index, true);
    }
  }
  showDetails();
  draw();
}

const placeOf = (index) => {
  const node = shown().nodes[index];
  const known = overlays[index];
  return { file: known?.path ?? node.file, line: known?.line ?? node.line };
};

function goToSource(index, keepFocus = false) {
  const { file, line } = placeOf(index);
  if (file !== undefined && file !== null && line !== undefined) {
    code.postMessage({ kind: "source", file, line, keepFocus });
  }
}

function breakAt(index) {
  const { file, line } = placeOf(index);
  if (file !== undefined && file !== null && line !== undefined) {
    code.postMessage({ kind: "break", file, line });
  }
}

let drag;
stage.addEventListener("pointerdown", (event) => {
  if (event.target === small) {
    const has = shown();
    const box = small.getBoundingClientRect();
    const at = [((event.clientX - box.left) / box.width) * has.width, ((event.clientY - box.top) / box.height) * has.height];
    state.x = stage.clientWidth / 2 - at[0] * state.scale;
    state.y = stage.clientHeight / 2 - at[1] * state.scale;
    draw();
    return;
  }
  drag = { x: event.clientX, y: event.clientY, moved: false };
  stage.setPointerCapture(event.pointerId);
});
stage.addEventListener("pointermove", (event) => {
  if (drag === undefined) {
    return;
  }
  const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
  if (drag.moved || Math.abs(x) + Math.abs(y) > 4) {
    moveBy(x, y);
    drag = { x: event.clientX, y: event.clientY, moved: true };
  }
});
stage.addEventListener("pointerup", (event) => {
  const wasClick = drag !== undefined && !drag.moved;
  drag = undefined;
  if (wasClick && event.button === 0) {
    select(nodeAt(event), { goes: true });
  }
});
stage.addEventListener("dblclick", (event) => {
  const index = nodeAt(event);
  if (index !== undefined) {
    goToSource(index);
  }
});
stage.addEventListener("contextmenu", (event) => {
  event.preventDefault();
  event.stopPropagation();
  const index = nodeAt(event);
  if (index !== undefined) {
    select(index);
    breakAt(index);
  }
});
stage.addEventListener("wheel", (event) => {
  event.preventDefault();
  const box = stage.getBoundingClientRect();
  if (event.ctrlKey || event.metaKey) {
    zoomBy(Math.exp(-event.deltaY / 200), [event.clientX - box.left, event.clientY - box.top]);
  } else if (event.shiftKey && event.deltaX === 0) {
    moveBy(-event.deltaY, 0);
  } else {
    moveBy(-event.deltaX, -event.deltaY);
  }
}, { passive: false });

/** The box beside the selected one, in the same layer. */
function beside(index, direction) {
  const nodes = shown().nodes;
  const own = nodes[index];
  const middle = own.y + own.height / 2;
  const row = nodes.map((node, at) => [node, at]).filter(([node]) => Math.abs(node.y + node.height / 2 - middle) < 1);
  row.sort(([one], [other]) => one.x - other.x);
  return row[row.findIndex(([, at]) => at === index) + direction]?.[1];
}

stage.addEventListener("keydown", (event) => {
  const has = shown();
  if (has === undefined) {
    return;
  }
  const index = state.selected;
  const go = (to) => {
    if (to !== undefined) {
      select(to);
      moveTo(to);
    }
  };
  const keys = {
    "+": () => zoomBy(1.25), "=": () => zoomBy(1.25), "-": () => zoomBy(0.8), 0: () => fit(),
    ArrowDown: () => (index === undefined ? moveBy(0, -80) : go(neighbours.below[index].find((to) => to !== index))),
    ArrowUp: () => (index === undefined ? moveBy(0, 80) : go(neighbours.above[index].find((to) => to !== index))),
    ArrowLeft: () => (index === undefined ? moveBy(80, 0) : go(beside(index, -1))),
    ArrowRight: () => (index === undefined ? moveBy(-80, 0) : go(beside(index, 1))),
    Home: () => go(has.nodes.findIndex((node) => node.kind === "dispatch")),
    End: () => go(has.nodes.findLastIndex((node) => node.kind === "dispatch")),
    PageDown: () => moveBy(0, -stage.clientHeight * 0.8), PageUp: () => moveBy(0, stage.clientHeight * 0.8),
    Enter: () => index !== undefined && goToSource(index),
    b: () => index !== undefined && breakAt(index),
    c: () => go(overlays.findIndex((it) => it?.isCurrent) >= 0 ? overlays.findIndex((it) => it?.isCurrent) : undefined),
    n: () => nextHit(overlays.flatMap((it, at) => ((it?.nans ?? 0) + (it?.infinities ?? 0) > 0 ? [at] : []))),
    "/": () => search.focus(), f: () => search.focus(),
    Escape: () => select(undefined),
  };
  const act = keys[event.key];
  if (act !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
    act();
    event.preventDefault();
  }
});

function nextHit(all) {
  if (all.length > 0) {
    const after = all.find((at) => at > (state.selected ?? -1)) ?? all[0];
    select(after);
    moveTo(after, true);
  }
}

search.addEventListener("input", () => {
  const wanted = search.value.trim().toLowerCase();
  const text = (node) => [node.title, node.operation, `${node.file ?? ""}:${node.line ?? ""}`, ...[...node.inputs, ...node.outputs].flatMap((it) => [it.name ?? "", it.type, it.origin ?? ""])].join("\n").toLowerCase();
  state.hits = wanted === "" ? [] : (shown()?.nodes ?? []).flatMap((node, index) => (text(node).includes(wanted) ? [index] : []));
  found.textContent = wanted === "" ? "" : `${state.hits.length} found`;
  if (state.hits.length > 0) {
    moveTo(state.hits[0], true);
  }
  draw();
});
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    nextHit(state.hits);
  } else if (event.key === "Escape") {
    search.value = "";
    state.hits = [];
    found.textContent = "";
    stage.focus();
    draw();
  }
});
functions.addEventListener("change", () => {
  state.function = Number(functions.value);
  state.selected = undefined;
  state.hits = [];
  state.fitted = false;
  prepare();
  showGraph();
});
colour.addEventListener("change", () => {
  state.colour = colour.value;
  state.miniature = undefined;
  draw();
});
new ResizeObserver(() => {
  if (state.tab === "graph") {
    showGraph();
  } else {
    drawMap();
  }
}).observe(main);
