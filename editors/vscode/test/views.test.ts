import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import sax from "sax";
import type { GraphFunction, GraphNode } from "../views/module/answers";
import { svgOf } from "../views/module/graph/svg";
import { ageText, bare, bytesText, countText, groupText, shortTitle, timeText } from "../views/module/texts";
import { squarified } from "../views/module/treemap";
import { colour, colourOfMark, NAN, VIRIDIS } from "../views/tensor/palette";

test("numbers of bytes, operations and nanoseconds are in the largest unit that fits", () => {
  assert.deepEqual([0, 1, 999, 1000, 9949, 12_345, 4.2e9].map(bytesText), [
    "0 bytes", "1 byte", "999 bytes", "1.0 KB", "9.9 KB", "12 KB", "4.2 GB",
  ]);
  assert.deepEqual([null, undefined].map(bytesText), Array(2).fill("size known when it runs"));
  assert.deepEqual([17, 1700, 3e15].map(countText), ["17", "1.7K", "3.0P"]);
  assert.deepEqual([12, 1234, 56_789, 1.5e8, 2.5e9].map(timeText), ["12 ns", "1.23 µs", "56.8 µs", "150 ms", "2.50 s"]);
});

test("an age has one unit", () => {
  const [second, hour, day] = [1000, 3_600_000, 86_400_000];
  const ages = [0, second, 59 * second, hour, 23 * hour, 2 * day, 45 * day, 800 * day];
  assert.deepEqual(ages.map((age) => ageText(1e12 - age, 1e12)), [
    "0 seconds ago", "1 second ago", "59 seconds ago", "1 hour ago", "23 hours ago", "2 days ago", "1 month ago",
    "2 years ago",
  ]);
});

test("the name of a dispatch begins with its number", () => {
  assert.equal(bare("many_dispatch_12_matmul_64x64"), "12 matmul_64x64");
  assert.equal(bare("tensor.insert_slice"), "tensor.insert_slice");
});

test("the boxes of a treemap fill it, each with its part", () => {
  const sizes = [600, 200, 100, 60, 40];
  const boxes = squarified(sizes, { x: 0, y: 0, width: 400, height: 250 });
  assert.equal(boxes.length, sizes.length);
  boxes.forEach(({ x, y, width, height }, index) => {
    const area = ((sizes[index] ?? 0) / 1000) * 400 * 250;
    assert.ok(Math.abs(width * height - area) < 1e-6 * area, `${width} × ${height} is not ${area}`);
    assert.ok(x >= 0 && y >= 0 && x + width <= 400.001 && y + height <= 250.001);
    assert.ok(Math.max(width / height, height / width) < 4, `${width} × ${height}`);
  });
  assert.deepEqual(squarified([], { x: 0, y: 0, width: 400, height: 250 }), []);
});

/** A graph of a group that is open, one that is collapsed, and a weight. */
function graph(): GraphFunction {
  const none = { operation: "", inputs: [], outputs: [], loops: 0, x: 0, y: 0, width: 230, height: 78 };
  const tensor = { name: "%a<b> & \"c\"", type: "1x4xf32" };
  const nodes: GraphNode[] = [
    { ...none, id: "a0.0", kind: "argument", title: "%x & %y", height: 34, outputs: [tensor] },
    { ...none, id: "w0.1", kind: "weight", title: "w\u0001 < 'v'", height: 34 },
    { ...none, id: "d0.2", kind: "dispatch", title: "]]> <script>", operation: "f_dispatch_0_m", group: 4, y: 90 },
    { ...none, id: "d0.3", kind: "dispatch", title: "hidden", group: 5, isHidden: true },
    { ...none, id: "g0.e", kind: "group", title: "encoder é", isOpen: true, dispatches: 1, height: 200 },
    { ...none, id: "g0.d", kind: "group", title: "a decoder with a name that is much longer than its box is wide", dispatches: 1, bytes: 4 },
  ];
  const edge = { tensor, points: [[1, 2], [3, 40]] as const };
  const edges = [{ ...edge, from: 0, to: 2, isBack: false }, { ...edge, from: 2, to: 2, isBack: true }];
  return { name: "f", width: 300, height: 400, groupedBy: "names", showsWeights: true, nodes, edges };
}

test("a graph as an SVG is well-formed, with the title of all that is seen", () => {
  const text = svgOf(graph(), ({ title }) => ({
    side: "red", part: 0.5, title, note: "<NaN>", lines: [["1x4 → 2", ""], ["&", "4 bytes"], ["", ""]],
  }));
  const parser = sax.parser(true);
  const said: string[] = [];
  const names: Record<string, number> = {};
  parser.onerror = (error) => assert.fail(`${error.message}\n${text}`);
  parser.ontext = (content) => said.push(content);
  parser.onopentag = ({ name }) => (names[name] = (names[name] ?? 0) + 1);
  parser.write(text).close();
  for (const title of ["%x & %y", "w\ufffd < 'v'", "]]> <script>", "encoder é", "<NaN>", "@f"]) {
    assert.ok(said.includes(title), `${title} is missing in ${said.join("|")}`);
  }
  // What does not fit is shortened, and is its tooltip.
  assert.ok(said.includes(graph().nodes[5]?.title ?? "") && said.some((it) => it.endsWith("…")));
  assert.ok(!said.includes("hidden"));
  assert.equal(names["script"], undefined);
  assert.equal(names["g"], 4, "two boxes, a weight and a collapsed group");
  assert.equal((names["path"] ?? 0), 4, "two lines with their arrows");
});

test("titles are short, and a group is its dispatches, its bytes and its operations", () => {
  const group: GraphNode = { ...graph().nodes[5]!, dispatches: 12, bytes: 3.2e6, operations: 4.1e9 };
  assert.equal(groupText(group), "12 dispatches · 3.2 MB · 4.1G ops");
  const titles = ["/encoder/layer.0/MatMul_output_0 = %7", "%7", "jit(f)/", "@w"].map((title) => shortTitle({ ...group, title }));
  assert.deepEqual(titles, ["MatMul_output_0 = %7", "%7", "jit(f)", "@w"]);
  const { bytes: _, ...dynamic } = graph().nodes[5]!;
  assert.equal(groupText(dynamic), "1 dispatch · size known when it runs");
});

test("colours go from the least to the greatest, and what is no number has its own", () => {
  assert.deepEqual([-1, 0, 1, 2].map((at) => colour(VIRIDIS, at)), [VIRIDIS[0], VIRIDIS[0], VIRIDIS.at(-1), VIRIDIS.at(-1)]);
  assert.equal(colourOfMark(0), undefined);
  assert.equal(colourOfMark(1 | 2), NAN);
});

test("lines of the views have at most 120 columns", () => {
  const names = readdirSync("views", { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  assert.ok(names.length > 20);
  const long = names.flatMap((name) => {
    const lines = readFileSync(join("views", name), "utf8").split("\n");
    return lines.flatMap((line, index) => (line.length > 120 ? [`${name}:${index + 1}`] : []));
  });
  assert.deepEqual(long, []);
});
