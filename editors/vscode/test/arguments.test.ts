import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFile, randomTensor } from "../src/arguments/random";
import { firstProposal, mistake, randomProposal, typeOf } from "../src/arguments/types";

test("types of arguments are read as they are written", () => {
  assert.deepEqual(typeOf("i32"), { kind: "number", element: "i32" });
  assert.deepEqual(typeOf("tensor<?x8xf32>"), { kind: "tensor", element: "f32", shape: [undefined, 8] });
  assert.deepEqual(typeOf("tensor<f64>"), { kind: "tensor", element: "f64", shape: [] });
  assert.deepEqual(typeOf("tensor<4x4xindex>"), { kind: "tensor", element: "i64", shape: [4, 4] });
  assert.deepEqual(typeOf("tensor<8xf32, #iree_encoding.testing<[]>>"), { kind: "tensor", element: "f32", shape: [8] });
  assert.deepEqual(typeOf("!torch.vtensor<[1,3,?,?],f32>"), { kind: "tensor", element: "f32", shape: [1, 3, undefined, undefined] });
  assert.deepEqual(typeOf("!torch.vtensor<[],si64>"), { kind: "tensor", element: "i64", shape: [] });
  assert.deepEqual(typeOf("!hal.buffer_view"), { kind: "other" });
  assert.deepEqual(typeOf("tensor<*xf32>"), { kind: "other" });
});

test("a field begins with something that can be run", () => {
  for (const [type, first] of [["i32", "0"], ["f32", "0.0"], ["tensor<?x8xbf16>", "1x8xbf16=0"], ["tensor<f32>", "f32=0"], ["!vm.list<i32>", ""]] as const) {
    assert.equal(firstProposal(typeOf(type)), first);
    assert.equal(first === "" || mistake(first, typeOf(type)) === undefined, true, type);
  }
  const image = typeOf("tensor<1x?x2xf32>");
  assert.equal(image.kind === "tensor" && randomProposal(image, 7), "1x1x2xf32=random(7)");
});

test("what does not fit is told while it is typed", () => {
  const said = (text: string, type: string): string => mistake(text, typeOf(type)) ?? "";
  for (const [text, type] of [
    ["-12", "i32"], ["0xff", "i8"], ["i32=5", "i32"], ["1.5e3", "f32"], ["nan", "f64"], ["-inf", "f32"], ["18446744073709551615", "index"],
    ["2x3xf32=1 2 3 4 5 6", "tensor<?x3xf32>"], ["2x3xf32=[1,2,3],[4,5,6]", "tensor<2x3xf32>"], ["2xi32", "tensor<2xi32>"],
    ["@x.npy", "tensor<4xf32>"], ["4xf32=@x.bin", "tensor<4xf32>"], ["2xsi64=1", "tensor<2xi64>"], ["3", "tensor<f32>"],
    ["banana", "!hal.buffer_view"], ["2xf32=random(3)", "tensor<?xf32>"],
  ] as const) {
    assert.equal(said(text, type), "", `${text} for ${type}`);
  }
  for (const [text, type, part] of [
    ["banana", "tensor<?x64xf32>", "such as 1x64xf32=0"], ["1x65xf32=0", "tensor<?x64xf32>", "Axis 1 has the size 64, not 65"],
    ["64xf32=0", "tensor<?x64xf32>", "2 axes, not 1"], ["1x64xi32=0", "tensor<?x64xf32>", "are f32, not i32"],
    ["2xf32=1 2 3", "tensor<2xf32>", "3 elements are given, 2 are needed"], ["2xi32=1.5", "tensor<2xi32>", "whole number"],
    ["", "i32", "needed"], ["1.5", "i32", "whole number"], ["300", "i8", "does not fit"], ["x", "f32", "a number such as 1.5"],
    ["2xf32=random", "tensor<2xf32>", "seed"], ["@", "tensor<2xf32>", "follows"],
  ] as const) {
    assert.ok(said(text, type).includes(part), `${text} for ${type}: ${said(text, type)}`);
  }
});

test("a seed gives the same .npy file each time", () => {
  const asked = randomTensor("2x3xf32=random(7)");
  assert.ok(asked);
  const file = randomFile(asked);
  assert.deepEqual(file, randomFile(asked));
  assert.notDeepEqual(file, randomFile({ ...asked, seed: 8 }));
  const header = Buffer.from(file).toString("latin1", 10, file.length - 24);
  assert.equal((10 + header.length) % 64, 0);
  assert.ok(header.startsWith("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3,), }") && header.endsWith("\n"), header);
  const numbers = new Float32Array(file.slice(-24).buffer);
  assert.ok(numbers.every((number) => number >= -1 && number < 1) && new Set(numbers).size === 6);
  const whole = new BigInt64Array(randomFile({ shape: [50], element: "i64", seed: 1 }).slice(-400).buffer);
  assert.ok(whole.every((number) => number >= 0n && number <= 9n) && new Set(whole).size > 5);
  const halves = new Uint16Array(randomFile({ shape: [50], element: "f16", seed: 1 }).slice(-100).buffer);
  assert.ok(halves.every((bits) => (bits & 0x7fff) <= 0x3c00));
  assert.equal(randomTensor("2xf32=3"), undefined);
  assert.throws(() => randomFile({ shape: [2], element: "bf16", seed: 1 }), /npy/);
});
