import assert from "node:assert/strict";
import { test } from "node:test";
import { digitsOn } from "../views/contrast";
import type { Execution, Figures } from "../views/tensor/answers";
import { boundText } from "../views/tensor/bound";
import { extentText, valuesOf } from "../views/tensor/extent";
import { askedAs, formatted, tabbed } from "../views/tensor/formats";
import { type Brightness, hatch, levelsOf, marksOf } from "../views/tensor/levels";
import { followed, linkText, type Position } from "../views/tensor/link";
import { newest } from "../views/tensor/newest";
import { type Colour, colour, DIVERGING, INFINITE, NAN, NEGATIVE_INFINITE, VIRIDIS } from "../views/tensor/palette";
import { endsOf, stepsOf } from "../views/tensor/steps";

test("how many elements are outside of their bound, and how many have none", () => {
  assert.equal(boundText({ known: 128, beyond: 0 }, 128), "0 of 128");
  assert.equal(boundText({ known: 128, beyond: 3 }, 128), "3 of 128");
  assert.equal(boundText({ known: 120, beyond: 3 }, 128), "3 of 120; no bound for 8");
  assert.equal(boundText({ known: 0, beyond: 0 }, 128), "no bound for any of 128");
});

/** Work that ends when it is told to, and how often it was begun. */
function stepwise() {
  const ends: ((error?: Error) => void)[] = [];
  const run = newest(() => new Promise((resolve, reject) => ends.push((error) => (error === undefined ? resolve() : reject(error)))));
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { ends, run, turn };
}

test("wishes that come while an answer is under way are served once, after it", async () => {
  const { ends, run, turn } = stepwise();
  const first = run();
  await Promise.all([run(), run()]);
  assert.equal(ends.length, 1);
  ends[0]?.();
  await turn();
  assert.equal(ends.length, 2);
  ends[1]?.();
  await first;
  assert.equal(ends.length, 2);
});

test("work that fails does not keep later wishes waiting", async () => {
  const { ends, run, turn } = stepwise();
  const failing = run();
  ends[0]?.(new Error("cannot draw"));
  await assert.rejects(failing, /cannot draw/);
  const later = run();
  await run();
  ends[1]?.(new Error("cannot draw"));
  await turn();
  ends[2]?.();
  await later;
  assert.equal(ends.length, 3);
});

test("elements are written in the format that is chosen", () => {
  const texts = ["0.1", "-1234.5678", "3", "1e-9", "nan", "-inf", "9007199254740993", "1e300"];
  assert.deepEqual(texts.map((it) => formatted(it, "short")), texts);
  assert.deepEqual(texts.map((it) => formatted(it, "fixed")), [
    "0.100", "-1234.568", "3", "0.000", "nan", "-inf", "9007199254740993", "1e300",
  ]);
  assert.deepEqual(texts.map((it) => formatted(it, "scientific")), [
    "1.000000e-01", "-1.234568e+03", "3.000000e+00", "1.000000e-09", "nan", "-inf", "9.007199e+15", "1.000000e+300",
  ]);
  assert.equal(formatted("0x3f800000", "bits"), "0x3f800000");
  assert.deepEqual(askedAs("short"), { texts: true });
  assert.deepEqual(askedAs("fixed"), { texts: true, exact: true });
  assert.deepEqual(askedAs("bits"), { texts: true, bits: true });
});

test("copied cells have tabs between columns and a line for each row", () => {
  assert.equal(tabbed(["1", "2", "3", "4", "5", "6"], 3), "1\t2\t3\n4\t5\t6");
  assert.equal(tabbed(["1"], 1), "1");
  assert.equal(tabbed([], 0), "");
});

test("an image's numbers are those from 0 to 1, bytes, or what there is", () => {
  const of = (type: string, low: number, high: number, wanted: Brightness = "auto"): unknown[] => {
    const { black, white, kind } = levelsOf(wanted, type, [low, high], [low, high]);
    return [black, white, kind];
  };
  assert.deepEqual(of("f32", 0.1, 0.9), [0, 1, "unit"]);
  assert.deepEqual(of("f32", 0, 200), [0, 255, "byte"]);
  assert.deepEqual(of("ui8", 0, 255), [0, 255, "byte"]);
  assert.deepEqual(of("i8", -128, 127), [-128, 127, "data"]);
  assert.deepEqual(of("f32", 0, 1.96), [0, 1.96, "data"]);
  assert.deepEqual(of("f32", 0, 0.01), [0, 0.01, "data"]);
  assert.deepEqual(of("f32", -3, 900, "unit"), [0, 1, "unit"]);
});

test("NaN in any channel of an image is marked, and is striped where it lies", () => {
  const channel = (marks?: number[]): { marks: Uint8Array | undefined } => ({ marks: marks && Uint8Array.from(marks) });
  assert.equal(marksOf([channel(), channel()]), undefined);
  const marks = marksOf([channel([0, 0]), channel(), channel([0, 1])]);
  assert.deepEqual([...(marks ?? [])], [0, 1]);
  const image = { width: 12, height: 6, data: new Uint8ClampedArray(12 * 6 * 4) };
  hatch(image, marks ?? new Uint8Array(), (x) => (x < 6 ? 0 : 1));
  const pixels = Array.from({ length: 12 * 6 }, (_, at) => [...image.data.slice(at * 4, at * 4 + 3)].join());
  const count = (text: string, isRight: boolean): number => pixels.filter((it, at) => it === text && (at % 12 >= 6) === isRight).length;
  assert.equal(count("255,0,255", true), 18);
  assert.equal(count("255,0,255", false), 0);
});

test("digits on a colour have a contrast that can be read", () => {
  const part = (level: number): number => (level / 255 <= 0.04045 ? level / 255 / 12.92 : ((level / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([red, green, blue]: Colour): number => 0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue);
  const shades = [VIRIDIS, DIVERGING].flatMap((map) => Array.from({ length: 101 }, (_, at) => colour(map, at / 100)));
  for (const shade of [...shades, NAN, INFINITE, NEGATIVE_INFINITE]) {
    const contrast = digitsOn(shade) === "#000" ? (light(shade) + 0.05) / 0.05 : 1.05 / (light(shade) + 0.05);
    assert.ok(contrast >= 4.5, `${shade.join()} has ${contrast}`);
  }
});

const figures = (minimum: number, maximum: number, nans = 0): Figures => ({
  count: 1, nans, positiveInfinities: 0, negativeInfinities: 0, minimum, maximum, mean: (minimum + maximum) / 2, deviation: 0,
});

test("a pixel of a strip has all indices that lie in it, and none where none is known", () => {
  const rows = [figures(0, 1), figures(-2, 3, 1), figures(5, 5)];
  assert.deepEqual(stepsOf(rows, [0, 4], 2), [
    { low: -2, high: 3, mean: 0.5, isBad: true }, { low: 5, high: 5, mean: 5, isBad: false },
  ]);
  assert.deepEqual(stepsOf(rows, [2, 4], 4).map((it) => it?.mean), [5, undefined, undefined, undefined]);
  assert.deepEqual(stepsOf(rows, [1, 1], 3).map((it) => it?.low), [-2, -2, -2]);
  assert.deepEqual(endsOf(rows), [-2, 5]);
  assert.deepEqual(endsOf([{ ...figures(0, 0), minimum: null, maximum: null }]), [0, 1]);
});

test("curves leave out executions whose tensor is not known, and the words say how many there are", () => {
  const executions: Execution[] = [{ command: 3, figures: figures(1, 2) }, { command: 5, lost: "its memory was released" }];
  assert.deepEqual(valuesOf(executions, "max"), [2, NaN]);
  const of = { dispatch: "d", isLeft: true, total: 2, forgotten: 0, ran: 6, isRecorded: true };
  const times = { of, first: 0, executions, isRunning: false };
  assert.equal(extentText(times), "left by @d: 2 times. Up to command 6, where the program stood.");
  const many = { ...times, of: { ...of, total: 1500, forgotten: 10, isLeft: false }, first: 500 };
  assert.equal(
    extentText(many),
    "as read by @d: 2 times, stopped before 998 more; 510 earlier ones of 1510 are left out."
      + " Up to command 6, where the program stood.",
  );
  assert.match(extentText({ ...many, isRunning: true }), /as read by @d: 2 of 1000 …; 510 earlier/);
});

test("a view follows another one as far as their last axes agree", () => {
  const at = (shape: number[], slice: (number | null)[], cursor: number[], windows: ([number, number] | null)[]): Position => ({ shape, slice, at: cursor, windows });
  const whole = at([2, 8, 9], [1, null, null], [1, 3, 4], [null, [2, 4], [0, 9]]);
  const same = followed(at([2, 8, 9], [0, null, null], [0, 0, 0], [null, [0, 8], [0, 9]]), whole);
  assert.deepEqual(same, whole);
  // Of another rank: its own axes stay.
  const matrix = followed(at([8, 9], [null, null], [0, 0], [[0, 8], [0, 9]]), whole);
  assert.deepEqual(matrix, at([8, 9], [null, null], [3, 4], [[2, 4], [0, 9]]));
  const back = followed(at([5, 8, 9], [null, null, 2], [4, 1, 2], [[0, 5], [0, 8], null]), matrix as Position);
  assert.deepEqual(back, at([5, 8, 9], [4, null, null], [4, 3, 4], [[0, 5], [2, 4], [0, 9]]));
  assert.equal(followed(at([8, 9], [null, null], [0, 0], [[0, 8], [0, 9]]), at([8, 7], [null, null], [1, 1], [[0, 8], [0, 7]])), undefined);
  assert.equal(linkText([2, 8, 9], [2, 8, 9]), "");
  assert.equal(linkText([8, 9], [2, 8, 9]), "only the last 2 axes of both");
  assert.equal(linkText([4, 9], [8, 9]), "only the last axis of both");
  assert.equal(linkText([8, 9], [8, 7]), "8x9 and 8x7 have no last axis in common, so they cannot be linked");
  assert.equal(linkText([], [3]), "a single element and 3 have no last axis in common, so they cannot be linked");
});
