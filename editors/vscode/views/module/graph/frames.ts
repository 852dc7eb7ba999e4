// The frames of open groups: around their boxes, with their names. A frame in a frame is a little darker.

import type { GraphNode } from "../answers";
import { colours } from "../colours";
import { state } from "../state";
import { groupText } from "../texts";
import { shortened } from "./canvas";
import { prepared } from "./overlays";

/** The height of a frame's title. A double click on it collapses the group. */
export const TITLE = 24;

/** From this scale on, titles can be read. */
const TITLES_FROM = 0.3;

export const isFrame = ({ kind, isOpen, isHidden }: GraphNode): boolean =>
  kind === "group" && isOpen === true && !isHidden;

export function drawFrame(pen: CanvasRenderingContext2D, node: GraphNode, index: number): void {
  const { text, dim, border, focus, frame, font } = colours();
  const { x, y, width, height, title } = node;
  const isChosen = state.selected === index || state.hits.includes(index);
  pen.beginPath();
  pen.roundRect(x, y, width, height, 6);
  pen.globalAlpha = 0.5;
  pen.fillStyle = frame;
  pen.fill();
  pen.globalAlpha = 1;
  pen.lineWidth = isChosen ? 2 : Math.max(1, 0.6 / state.scale);
  pen.strokeStyle = isChosen ? focus : border;
  pen.stroke();
  if (state.scale < TITLES_FROM) {
    return;
  }
  pen.textBaseline = "alphabetic";
  pen.textAlign = "left";
  pen.font = `600 12px ${font}`;
  pen.fillStyle = text;
  const name = shortened(pen, `▾ ${title}`, width - 20);
  pen.fillText(name, x + 10, y + 17);
  const left = x + 20 + pen.measureText(name).width;
  pen.font = `11px ${font}`;
  pen.fillStyle = dim;
  const ran = prepared.overlays[index]?.ran;
  const note = ran === undefined ? groupText(node) : `${groupText(node)} · ran ${ran} of ${node.dispatches ?? 0}`;
  const room = x + width - 8 - left;
  if (room > 60) {
    pen.fillText(shortened(pen, note, room), left, y + 17);
  }
}
