// The time line: the commands that a session has run, when and how long.

import type { Command, DispatchRuns, RunMap } from "../answers";
import { colours } from "../colours";
import { shown, type Span, state } from "../state";
import { bare, timeText } from "../texts";
import { cleared, draw } from "./canvas";
import { timeLine, timePicture, tip } from "./elements";
import { moveTo, select } from "./movement";
import { badNumbers, prepared } from "./overlays";
import { canGoTo, goTo } from "./places";
import { reveal } from "./reveal";

/** Its room at the left and at the right, and the least time that it shows, in nanoseconds. */
const MARGIN = 16;
const SHORTEST = 200;

/** A command as it is drawn. */
interface Drawn {
  readonly left: number;
  readonly right: number;
  readonly command: Command;
  /** The box of its dispatch in the shown function. */
  readonly index: number | undefined;
}

let drawn: Drawn[] = [];

const commands = (): readonly Command[] => state.runs?.commands ?? [];

/** From the first command to the end of the last one. */
function wholeSpan(): Span {
  const from = commands()[0]?.start ?? 0;
  return { from, to: commands().reduce((end, it) => Math.max(end, it.start + it.took), from + 1) };
}

export function drawTime(): void {
  const { runs } = state;
  const wasHidden = timeLine.hidden;
  timeLine.hidden = commands().length === 0;
  if (timeLine.hidden !== wasHidden) {
    draw(); // The graph has another height now.
  }
  if (timeLine.hidden || runs === undefined) {
    return;
  }
  const { width, height, pen } = cleared(timePicture, timeLine);
  const whole = wholeSpan();
  const { from, to } = state.time ?? whole;
  const [left, right, top, tall] = [MARGIN, width - MARGIN, 24, height - 34];
  const at = (time: number): number => left + ((time - from) / (to - from)) * (right - left);
  drawTexts(pen, runs, whole, right);
  drawn = runs.commands.flatMap((command) => {
    const [begins, ends] = [at(command.start), at(command.start + command.took)];
    const place = { left: Math.max(left, begins), right: Math.min(right, Math.max(ends, begins + 1)) };
    return ends < left || begins > right ? [] : [{ ...place, command, index: boxOf(runs, command) }];
  });
  drawCommands(pen, runs, top, tall);
  if (runs.dispatches.some((it) => it.isCurrent)) {
    pen.fillStyle = colours().yellow;
    pen.fillRect(Math.min(right, at(whole.to)), top - 4, 2, tall + 8);
  }
}

function drawCommands(pen: CanvasRenderingContext2D, runs: RunMap, top: number, tall: number): void {
  let end = -Infinity;
  for (const box of drawn) {
    const { colour, isMarked } = markOf(runs, box);
    // What is narrower than a pixel is drawn once.
    if (box.right - end < 0.5 && !isMarked) {
      continue;
    }
    end = box.right;
    const wide = box.right - box.left;
    pen.fillStyle = colour;
    pen.fillRect(box.left, top, Math.max(1, wide - (wide > 3 ? 1 : 0)), tall);
  }
}

/** How many commands there are, and how much of their time is shown. */
function drawTexts(pen: CanvasRenderingContext2D, runs: RunMap, whole: Span, right: number): void {
  const { dim, font } = colours();
  const count = runs.commands.length;
  const before = runs.total - count;
  pen.font = `11px ${font}`;
  pen.fillStyle = dim;
  pen.textBaseline = "alphabetic";
  const said = `${count} ${count === 1 ? "command" : "commands"} in ${timeText(whole.to - whole.from)}`;
  pen.fillText(before > 0 ? `${said}, ${before} before them` : said, MARGIN, 15);
  pen.textAlign = "right";
  pen.fillText(state.time === undefined ? "" : `${timeText(state.time.to - state.time.from)} shown`, right, 15);
  pen.textAlign = "left";
}

const dispatchOf = (runs: RunMap, { dispatch }: Command): DispatchRuns | undefined =>
  dispatch === null ? undefined : runs.dispatches[dispatch];

function boxOf(runs: RunMap, command: Command): number | undefined {
  const id = dispatchOf(runs, command)?.id ?? undefined;
  return id === undefined ? undefined : prepared.byId.get(id);
}

/** Its colour, and whether it is to be seen however short it is. */
function markOf(runs: RunMap, { command, index }: Drawn): { readonly colour: string; readonly isMarked: boolean } {
  const { focus, red, green, purple } = colours();
  const dispatch = dispatchOf(runs, command);
  if (index !== undefined && index === state.selected) {
    return { colour: focus, isMarked: true };
  }
  if (badNumbers(dispatch) > 0 && dispatch?.lastCommand === command.number) {
    return { colour: red, isMarked: true };
  }
  return { colour: command.kind === "dispatch" ? green : purple, isMarked: false };
}

// ---- What the pointer does in it ----

function commandAt(event: MouseEvent): Drawn | undefined {
  const x = event.clientX - timeLine.getBoundingClientRect().left;
  return drawn.find((box) => x >= box.left - 1 && x <= box.right + 1);
}

export function listenToTimeLine(): void {
  timeLine.addEventListener("pointermove", showTip);
  timeLine.addEventListener("pointerleave", () => (tip.hidden = true));
  timeLine.addEventListener("click", (event) => {
    const index = commandAt(event)?.index;
    if (index !== undefined && shown()?.nodes[index]?.isHidden) {
      reveal(index);
    } else if (index !== undefined) {
      select(index, { goes: true });
      moveTo(index);
    }
  });
  // A double click on a command goes there, if the program is recorded; elsewhere it shows all again.
  timeLine.addEventListener("dblclick", (event) => {
    const number = commandAt(event)?.command.number;
    if (canGoTo(number)) {
      goTo(number);
      return;
    }
    state.time = undefined;
    draw();
  });
  timeLine.addEventListener("wheel", turn, { passive: false });
}

/** What the command under the pointer is, above it. */
function showTip(event: MouseEvent): void {
  const box = commandAt(event);
  tip.hidden = box === undefined;
  if (box === undefined) {
    return;
  }
  const { command, index } = box;
  const node = index === undefined ? undefined : shown()?.nodes[index];
  const name = node?.title ?? (state.runs && dispatchOf(state.runs, command)?.export) ?? command.kind;
  tip.textContent = [
    `command ${command.number}: ${name}${node === undefined ? "" : ` (${bare(node.operation)})`}`,
    `, ${timeText(command.took)}`,
    command.hasStood ? ", with stops in it" : "",
    canGoTo(command.number) ? "; double click goes there" : "",
  ].join("");
  const width = tip.offsetWidth;
  tip.style.left = `${Math.min(window.innerWidth - width - 6, Math.max(6, event.clientX - width / 2))}px`;
  tip.style.top = `${timeLine.getBoundingClientRect().top - tip.offsetHeight - 4}px`;
}

/** Moves along the time, or shows a longer or shorter part of it. */
function turn(event: WheelEvent): void {
  event.preventDefault();
  if (commands().length === 0) {
    return;
  }
  const whole = wholeSpan();
  const { from, to } = state.time ?? whole;
  const length = to - from;
  const isMove = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
  const wanted = Math.max(SHORTEST, length * (isMove ? 1 : Math.exp(event.deltaY / 300)));
  const part = (event.clientX - MARGIN) / Math.max(1, timeLine.clientWidth - 2 * MARGIN);
  const by = isMove ? ((event.deltaX || event.deltaY) / 600) * length : (length - wanted) * part;
  const begin = Math.max(whole.from, Math.min(from + by, whole.to - wanted));
  state.time = wanted >= whole.to - whole.from ? undefined : { from: begin, to: begin + wanted };
  draw();
}
