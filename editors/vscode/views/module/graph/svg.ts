// A graph as an SVG: all of a function as it is laid out, with its groups, in colours for white paper. This is a
// function from what is to be drawn to a text, so that it can be tested without a page.

import type { GraphEdge, GraphFunction, GraphNode } from "../answers";
import { type Paper, PAPER } from "../paper";

/** The texts and the colours of a box. */
export interface Look {
  readonly side: string;
  /** How much of its lower side is filled. */
  readonly part: number;
  readonly title: string;
  readonly note: string;
  readonly lines: readonly (readonly [left: string, right: string])[];
}

/** A letter of a fixed width is so wide, of its size. */
const WIDE = 0.61;

const escaped = (text: string): string =>
  // XML has no other control characters at all.
  text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd").replace(
    /[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`,
  );

const number = (value: number): string => String(Math.round(value * 10) / 10);

function element(name: string, attributes: Readonly<Record<string, string | number>>, content = ""): string {
  const all = Object.entries(attributes).map(([key, value]) =>
    ` ${key}="${typeof value === "number" ? number(value) : escaped(value)}"`);
  return content === "" ? `<${name}${all.join("")}/>` : `<${name}${all.join("")}>${content}</${name}>`;
}

/** A text that is as wide as its place at most; all of it is its tooltip. */
function text(
  content: string, [x, y]: readonly [x: number, y: number], room: number,
  style: { readonly size: number; readonly fill: string; readonly anchor?: string; readonly weight?: string },
): string {
  const { size, fill, anchor = "start", weight = "normal" } = style;
  const most = Math.max(1, Math.floor(room / (size * WIDE)));
  const letters = [...content];
  const short = letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : content;
  const attributes = { x, y, "font-size": size, fill, "text-anchor": anchor, "font-weight": weight };
  const tip = short === content ? "" : title(content);
  return content === "" ? "" : element("text", attributes, escaped(short) + tip);
}

const title = (content: string): string => element("title", {}, escaped(content));

export function svgOf(
  { name, width, height, nodes, edges }: GraphFunction, look: (node: GraphNode, index: number) => Look,
  colours: Paper = PAPER,
): string {
  const isFrame = ({ kind, isOpen, isHidden }: GraphNode): boolean => kind === "group" && isOpen === true && !isHidden;
  const seen = nodes.map((node, index) => ({ node, index })).filter(({ node }) => !node.isHidden);
  const frames = seen.filter(({ node }) => isFrame(node)).map(({ node }) => frame(node, colours));
  const boxes = seen.filter(({ node }) => !node.isOpen).map(({ node, index }) => box(node, look(node, index), colours));
  const attributes = {
    xmlns: "http://www.w3.org/2000/svg", width: Math.ceil(width), height: Math.ceil(height),
    viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`, "font-family": colours.mono,
  };
  const paper = element("rect", { width: "100%", height: "100%", fill: colours.box });
  const lines = edges.map((edge) => line(edge, colours));
  const all = [title(name === "" ? "initializer" : `@${name}`), paper, ...frames, ...lines, ...boxes];
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element("svg", attributes, `\n${all.join("\n")}\n`)}\n`;
}

function frame({ x, y, width, height, title }: GraphNode, { frame, border, text: ink }: Paper): string {
  const shape = element("rect", {
    x, y, width, height, rx: 6, fill: frame, "fill-opacity": "0.5", stroke: border,
  });
  return shape + text(title, [x + 10, y + 17], width - 20, { size: 12, fill: ink, weight: "bold" });
}

/** Curves as on the canvas. Its last part is an arrow. */
function line({ points, tensor, isBack }: GraphEdge, { line }: Paper): string {
  const path = points.map(([x, y], at) => {
    const before = points[at - 1];
    const middle = ((before?.[1] ?? 0) + y) / 2;
    const curve = [before?.[0] ?? 0, middle, x, middle, x, y].map(number).join(" ");
    return before === undefined ? `M${number(x)} ${number(y)}` : `C${curve}`;
  });
  const [x, y] = points.at(-1) ?? [0, 0];
  const shape = element("path", {
    d: path.join(""), fill: "none", stroke: line, "stroke-width": 1.2, ...(isBack && { "stroke-dasharray": "5 4" }),
  }, title(tensor.name === undefined ? tensor.type : `${tensor.name}: ${tensor.type}`));
  const arrow = `M${number(x)} ${number(y)}l-4 -8h8z`;
  return shape + element("path", { d: arrow, fill: line });
}

function box(node: GraphNode, { side, part, title: name, note, lines }: Look, colours: Paper): string {
  const { x, y, width, height, kind } = node;
  const { box, border, text: ink, dim } = colours;
  const isLarge = kind === "dispatch" || kind === "group";
  const shape = (dx: number, fill: string): string => element("rect", {
    x: x + dx, y: y + dx, width, height, rx: isLarge ? 4 : kind === "weight" ? 0 : height / 2, fill,
    stroke: isLarge ? border : side,
  });
  const parts = [kind === "group" ? shape(5, colours.frame) : "", shape(0, box), title(node.fullName ?? node.title)];
  if (!isLarge) {
    const style = { fill: ink, anchor: "middle" };
    parts.push(
      text(name, [x + width / 2, y + 14], width - 16, { ...style, size: 12 }),
      text(lines[0]?.[0] ?? "", [x + width / 2, y + 27], width - 16, { ...style, size: 10, fill: dim }),
    );
    return element("g", {}, parts.join(""));
  }
  const [left, right] = [x + 13, x + width - 9];
  const room = (taken: string, size: number): number =>
    width - 24 - (taken === "" ? 0 : taken.length * size * WIDE + 8);
  const filled = { x: x + 5, y: y + height - 4, width: (width - 6) * Math.min(1, part), height: 3.5, fill: side };
  parts.push(
    element("rect", { x: x + 0.5, y: y + 0.5, width: 5, height: height - 1, fill: side }),
    part > 0 ? element("rect", filled) : "",
    text(name, [left, y + 18], room(note, 11), { size: 13, fill: ink, weight: "bold" }),
    text(note, [right, y + 18], width, { size: 11, fill: side, anchor: "end" }),
    ...lines.flatMap(([start, end], at) => [
      text(start, [left, y + [34, 50, 67][at]!], room(end, 11), { size: 11, fill: at === 1 ? ink : dim }),
      text(end, [right, y + [34, 50, 67][at]!], width, { size: 11, fill: dim, anchor: "end" }),
    ]),
  );
  return element("g", {}, parts.join(""));
}
