// Numbers of bytes, operations and times in words.

import type { GraphNode, GraphTensor } from "./answers";

/** A number with the largest unit in which it is at least 1, and that unit's index. */
function scaled(count: number, units: number): [size: number, unit: number] {
  let [size, unit] = [count, 0];
  while (size >= 1000 && unit < units - 1) {
    size /= 1000;
    unit++;
  }
  return [size, unit];
}

const rounded = (size: number): string => (size < 10 ? size.toFixed(1) : String(Math.round(size)));

export function bytesText(bytes: number | null | undefined): string {
  if (bytes === undefined || bytes === null) {
    return "size known when it runs";
  }
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  const [size, unit] = scaled(bytes, units.length);
  return unit === 0 ? `${bytes} ${bytes === 1 ? "byte" : "bytes"}` : `${rounded(size)} ${units[unit]}`;
}

export function countText(count: number): string {
  const units = ["", "K", "M", "G", "T", "P"];
  const [size, unit] = scaled(count, units.length);
  return unit === 0 ? String(count) : `${rounded(size)}${units[unit]}`;
}

export function timeText(nanoseconds: number): string {
  if (nanoseconds < 1e3) {
    return `${Math.round(nanoseconds)} ns`;
  }
  const units = [[1e6, 1e3, "µs"], [1e9, 1e6, "ms"]] as const;
  const [, length, unit] = units.find(([end]) => nanoseconds < end) ?? [Infinity, 1e9, "s"];
  const size = nanoseconds / length;
  return `${size < 10 ? size.toFixed(2) : size < 100 ? size.toFixed(1) : Math.round(size)} ${unit}`;
}

const AGES = [[60, "second"], [60, "minute"], [24, "hour"], [30, "day"], [12, "month"], [Infinity, "year"]] as const;

/** How long ago a time is; both are in milliseconds. */
export function ageText(then: number, now: number): string {
  let count = Math.max(0, (now - then) / 1000);
  for (const [size, name] of AGES) {
    if (count < size) {
      const whole = Math.floor(count);
      return `${whole} ${name}${whole === 1 ? "" : "s"} ago`;
    }
    count /= size;
  }
  return "";
}

/** The name of a file without its folders. */
export const fileName = (path: string): string => path.split(/[\\/]/).pop() ?? path;

/** `many_dispatch_12_matmul_64x64` is `12 matmul_64x64`. */
export const bare = (operation: string): string => operation.replace(/^.*_dispatch_(\d+)_/, "$1 ");

/** The title of a box where there is little room. */
export const shortTitle = ({ title }: GraphNode): string => shortName(title);

/** Of a name such as `/encoder/layer.0/MatMul = %7`, what its groups do not say. */
export function shortName(title: string): string {
  const [name = title, ...own] = title.split(" = ");
  return [name.split("/").filter((part) => part !== "").at(-1) ?? name, ...own].join(" = ");
}

/** The second line of a small box: the type of its tensor; of a weight, its bytes, too. */
export function smallText({ kind, inputs, outputs }: GraphNode): string {
  const { type = "", bytes } = outputs[0] ?? inputs[0] ?? {};
  return kind === "weight" && bytes !== undefined ? `${type} · ${bytesText(bytes)}` : type;
}

/** A group of dispatches in words. */
export function groupText({ dispatches = 0, bytes, operations }: GraphNode): string {
  const parts = [
    `${dispatches} ${dispatches === 1 ? "dispatch" : "dispatches"}`, bytesText(bytes),
    operations ? `${countText(operations)} ops` : "",
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

/** What a box takes and makes. Of what it takes, constants are left out, unless there is nothing else. */
export function shapeText(node: GraphNode): string {
  const types = (list: readonly GraphTensor[]): string => list.map((it) => it.type).join(", ");
  const own = node.inputs.filter((it) => it.origin === undefined);
  return `${types(own.length > 0 ? own : node.inputs)} → ${types(node.outputs)}`;
}
