// The view of tensors, on tensors that NumPy has made: what it shows is what NumPy says of them.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAccessible, keysReachAll } from "./accessibility.mjs";
import { eventually } from "./workbench.mjs";

const SOURCE = `func.func @look(%image: tensor<2x3x40x60xf32>, %m: tensor<300x500xf32>, %v: tensor<400xf32>) -> (tensor<2x3x40x60xf32>, tensor<300x500xf32>, tensor<400xf32>) {
  %i = arith.addf %image, %image : tensor<2x3x40x60xf32>
  %n = arith.negf %m : tensor<300x500xf32>
  %w = arith.mulf %v, %v : tensor<400xf32>
  return %i, %n, %w : tensor<2x3x40x60xf32>, tensor<300x500xf32>, tensor<400xf32>
}
`;

/** A loop whose dispatch leaves a tensor in each turn. */
const LOOP = `func.func @turns(%x: tensor<16x16xf32>, %n: index) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<16x16xf32>) {
    %m = linalg.matmul ins(%a, %x : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %d = arith.subf %in, %one : f32
      %k = arith.divf %in, %d : f32
      linalg.yield %k : f32
    } -> tensor<16x16xf32>
    %b = util.optimization_barrier %s : tensor<16x16xf32>
    scf.yield %b : tensor<16x16xf32>
  }
  return %r : tensor<16x16xf32>
}
`;

const ARRAYS = `
import json, numpy as np
y, x = np.mgrid[0:300, 0:500]
m = (np.sin(x / 40) * np.cos(y / 30) * 3 + np.random.default_rng(1).normal(0, 0.2, (300, 500))).astype(np.float32)
m[120:140, 200:260] = np.nan
m[20, 30] = np.inf
v = np.cumsum(np.random.default_rng(2).normal(0, 1, 400)).astype(np.float32)
rows, columns = np.mgrid[0:40, 0:60]
image = np.stack([np.stack([rows / 40, columns / 60, (rows + columns) / 100]), np.stack([columns / 60, rows / 40, 1 - rows / 40])]).astype(np.float32)
image[1, 1, 5, 50] = np.nan
for name in ['m', 'v', 'image']:
    np.save(name + '.npy', globals()[name])
weight = np.random.default_rng(4).normal(0, 0.1, (64, 48)).astype(np.float32)
bias = np.arange(48, dtype=np.int32)
head, at = {}, 0
for name, t, kind in [('weight', weight, 'F32'), ('bias', bias, 'I32')]:
    head[name] = {'dtype': kind, 'shape': list(t.shape), 'data_offsets': [at, at + t.nbytes]}
    at += t.nbytes
head = json.dumps(head).encode()
open('layers.safetensors', 'wb').write(len(head).to_bytes(8, 'little') + head + weight.tobytes() + bias.tobytes())
other = -m
other[50, 60] += 0.25
np.save('other.npy', other)
f = -m[np.isfinite(m)].astype(np.float64)
row = -m[7].astype(np.float64)
a, turns = 0.3, []
for turn in range(4):
    p = 16 * 0.3 * a
    a = p / (p - 1)
    turns.append(a)
print(json.dumps({'nans': int(np.isnan(m).sum()), 'mean': f.mean(), 'median': np.median(f), 'min': float(f.min()),
  'element': float(-m[0, 0]), 'image': float(image[1, 2, 20, 30] * 2),
  'row': [float(row.min()), float(row.max()), row.mean(), row.std()], 'bad': int(np.isnan(m[125]).sum()), 'turns': turns,
  'cells': [[str(v) for v in r] for r in -m[20:22, 29:32]],
  'far': float(abs(np.float64(other[50, 60]) - np.float64(-m[50, 60]))), 'weight': float(weight.astype(np.float64).mean())}))
`;

/** Whether the file and the copied text are what the program has computed, to the last bit. */
const SAVED = `
import sys, numpy as np
n, m = np.load('saved.npy'), np.load('m.npy')
assert n.dtype == np.float32 and n.shape == m.shape
assert np.array_equal(n, -m, equal_nan=True)
row = eval(sys.argv[1])
assert row.dtype == np.float32 and np.array_equal(row, -m[138, :], equal_nan=True), row
print('same')
`;

/**
 * @param {{folder: string, python: string, pictures: string}} options
 * @returns {{title: string, image?: string, act: (user: import("./workbench.mjs").User) => Promise<void>}[]}
 */
export function tensorScenario({ folder, python, pictures }) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "look.mlir"), SOURCE);
  writeFileSync(join(folder, "loop.mlir"), LOOP);
  mkdirSync(join(folder, ".vscode"));
  const configuration = { type: "iree", request: "launch", name: "Look", program: "${workspaceFolder}/look.mlir", record: false };
  writeFileSync(join(folder, ".vscode/launch.json"), JSON.stringify({ version: "0.2.0", configurations: [configuration] }));
  const known = JSON.parse(execFileSync(python, ["-c", ARRAYS], { cwd: folder, encoding: "utf8" }));
  const near = (text, number) => Math.abs(Number(text) - number) <= Math.abs(number) * 1e-5 + 1e-9;
  const figure = async (view, name) => {
    const term = view.locator("dt", { hasText: new RegExp(`^${name}$`) });
    return (await term.locator("xpath=following-sibling::dd[1]").innerText({ timeout: 1_000 }).catch(() => "")).trim();
  };
  /** The texts of a row of a table. */
  const cells = (view, table, row) => view.locator(`#${table} tbody tr`).nth(row).locator("th, td").allInnerTexts();
  const copied = (user) => user.page.evaluate(() => navigator.clipboard.readText());
  /** The page has no finding in any theme; a picture of each. */
  const accessible = (user, what) => isAccessible(user, view, (kind) => join(pictures, `${what}-${kind.replace("vscode-", "")}.png`));
  let view;
  return [
    {
      title: "a stop in a program of tensors",
      async act(user) {
        await user.open("look.mlir");
        await user.page.locator(".codelens-decoration", { hasText: "Debug" }).first().waitFor();
        await user.goToLine(5);
        await user.toggleBreakpoint();
        await user.press("F5");
        await user.giveArguments("@look", { "%image": "@image.npy", "%m": "@m.npy", "%v": "@v.npy" });
        await user.page.locator(".debug-variables .monaco-list-row .expression", { hasText: "%n" }).first().waitFor();
      },
    },
    {
      title: "tensors have small pictures beside their definitions",
      async act(user) {
        const count = () => user.page.evaluate(() => {
          const isPicture = (element) => getComputedStyle(element, "::after").content.includes("data:image/bmp");
          return [...document.querySelectorAll(".view-lines span")].filter(isPicture).length;
        });
        // Of the arguments, the first; and each line's own.
        await eventually("the pictures", count, (pictures) => pictures === 4);
      },
    },
    {
      title: "the row of a tensor opens its view",
      image: "tensor",
      async act(user) {
        await user.openTensor("%n");
        view = await user.webview("#stage canvas");
        await view.locator("h1", { hasText: "%n" }).waitFor();
        await view.locator(".type", { hasText: "300x500xf32" }).waitFor();
        await view.locator("#place", { hasText: "at look.mlir:5" }).waitFor();
        await eventually("the mean", () => figure(view, "mean"), (text) => near(text, known.mean));
        await eventually("the median", () => figure(view, "median"), (text) => near(text, known.median));
        await eventually("the minimum", () => figure(view, "min"), (text) => near(text, known.min));
        await eventually("NaN", () => figure(view, "NaN"), (text) => text.startsWith(String(known.nans)));
      },
    },
    {
      title: "keys move to an element, to NaN, and zoom",
      async act(user) {
        await view.locator("#stage").focus();
        await user.press("Home");
        for (let step = 0; step < 400; step += 20) {
          await user.press("PageUp");
        }
        const at = () => view.locator("#at").innerText();
        await eventually("the first element", at, (text) => text.startsWith("%n[0, 0] = ") && near(text.split("= ")[1], known.element));
        await user.press("n");
        await eventually("the first NaN", at, (text) => /^%n\[120, 200\] = -?nan$/i.test(text));
        await user.press("+", "+", "+", "+", "+");
      },
    },
    {
      title: "each index of an axis has its figures, beside the picture and as a table",
      async act(user) {
        await view.locator("#along").selectOption("0");
        await view.locator("#along-table tbody tr").nth(99).waitFor();
        const [, ...figures] = await cells(view, "along-table", 7);
        if (!known.row.every((it, at) => near(figures[at], it)) || figures.slice(4).join() !== "0,0") {
          throw new Error(`row 7 is ${figures}, not ${known.row}`);
        }
        // Beside the picture there is a strip, with a mark where there is NaN.
        const magenta = (canvas) => {
          const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          let found = 0;
          for (let at = 0; at < data.length; at += 4) {
            found += (at / 4) % width > width - 70 && data[at] === 255 && data[at + 1] === 0 && data[at + 2] === 255 ? 1 : 0;
          }
          return found;
        };
        await view.locator("button", { hasText: "Fit" }).click();
        await eventually("a mark beside rows with NaN", () => view.locator("#canvas").evaluate(magenta), (count) => count > 0);
        await view.locator("#along-after").click();
        await view.locator("#along-table button", { hasText: /^125$/ }).click();
        await eventually("row 125", () => view.locator("#at").innerText(), (text) => text.startsWith("%n[125, "));
        const bad = (await cells(view, "along-table", 25))[5];
        if (bad !== String(known.bad)) {
          throw new Error(`row 125 has ${bad} NaN, not ${known.bad}`);
        }
        // Another axis: of the columns, below the picture.
        await view.locator("#along").selectOption("1");
        await eventually("the columns", () => view.locator("#along-section").innerText(), (text) => text.includes("of 500") && !text.includes("Computing"));
      },
    },
    {
      title: "all of the page can be used by keys, and nothing is hidden from any user",
      async act(user) {
        await keysReachAll(user, view);
        await view.locator("#stage").focus();
        await user.press("Escape");
        await eventually("the picture without the focus", () => view.evaluate(() => document.activeElement.id), (id) => id !== "stage");
        await accessible(user, "heat-map");
        await view.locator("#along").selectOption("");
        await view.locator("#along-table").waitFor({ state: "detached" });
      },
    },
    {
      title: "who wrote an element is known of recorded programs, as it says",
      async act(user) {
        await view.locator("#who-wrote").click();
        const message = await user.notification("The program is not recorded, so it cannot go back.");
        await message.locator(".monaco-button", { hasText: "Record and Restart" }).waitFor();
        await user.clearNotifications();
      },
    },
    {
      title: "its numbers are a table",
      async act(user) {
        await view.locator("button", { hasText: "Table" }).click();
        const nan = view.locator("td.cursor", { hasText: /nan/i });
        await nan.waitFor();
        // As in the picture, where NaN is magenta.
        const colour = await nan.evaluate((cell) => getComputedStyle(cell).backgroundColor);
        if (colour !== "rgb(255, 0, 255)") {
          throw new Error(`NaN is ${colour}`);
        }
        await view.locator("label", { hasText: "colours" }).locator("input").uncheck();
        const text = await view.locator("td.nan").first().evaluate((cell) => [getComputedStyle(cell).backgroundColor, getComputedStyle(cell).color]);
        const [, red, green] = /rgb\((\d+), (\d+)/.exec(text[1]);
        if (text[0] !== "rgba(0, 0, 0, 0)" || Number(red) < Number(green) + 60) {
          throw new Error(`NaN is written in ${text[1]} on ${text[0]}`);
        }
        await view.locator("label", { hasText: "colours" }).locator("input").check();
      },
    },
    {
      title: "cells are selected and copied, in the format that is chosen",
      async act(user) {
        await user.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
        await view.locator("#along").selectOption("0");
        await view.locator("#along-table button", { hasText: /^20$/ }).click();
        await view.locator("#along").selectOption("");
        await view.locator("#stage").focus();
        await user.press("Home");
        for (let column = 0; column < 29; column++) {
          await user.press("ArrowRight");
        }
        await user.press("Shift+ArrowDown", "Shift+ArrowRight", "Shift+ArrowRight");
        await view.locator("#selected", { hasText: "2 × 3 cells" }).waitFor();
        await view.locator("#format").selectOption("%.6e");
        await eventually("the cursor's format", () => view.locator("#at b").first().innerText(), (text) => /^-?\d\.\d{6}e[+-]\d\d$/.test(text));
        await view.locator("#stage").focus();
        await user.press("Control+c");
        const rows = (text) => text.split("\n").map((line) => line.split("\t"));
        const wanted = known.cells.flat();
        await eventually("the cells", () => copied(user), (text) => {
          const all = rows(text).flat();
          return rows(text).length === 2 && all.length === 6 && all.every((it, at) => (at === 1 ? it === "-inf" : /e[+-]\d\d$/.test(it) && near(it, Number(wanted[at]))));
        });
        await view.locator("#format").selectOption("hex bits");
        await view.locator("#copy-cells").click();
        await eventually("the bits", () => copied(user), (text) => rows(text)[0][1] === "0xff800000");
        await view.locator("td.cursor", { hasText: /^0x[0-9a-f]{8}$/ }).waitFor();
        await view.locator("#format").selectOption("%.3f");
        await view.locator("td.cursor", { hasText: /^-?\d+\.\d{3}$/ }).waitFor();
        await accessible(user, "table");
        await view.locator("#format").selectOption("shortest");
      },
    },
    {
      title: "it is saved and copied for NumPy",
      async act(user) {
        await view.locator("button", { hasText: "Heat map" }).click();
        await view.locator("#slice").fill("[138, :]");
        await view.locator("#slice").press("Enter");
        await user.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
        await view.locator("#copy").click();
        const text = await eventually("a copy", () => copied(user), (text) => text.startsWith("np.array("));
        await view.locator("#slice").fill("[:, :]");
        await view.locator("#slice").press("Enter");
        // A file of the run in another theme would be asked about.
        rmSync(join(folder, "saved.npy"), { force: true });
        await view.locator("#save").click();
        await user.answerPath(join(folder, "saved.npy"));
        await eventually("saved.npy", () => existsSync(join(folder, "saved.npy")), Boolean);
        const said = await eventually("NumPy", () => {
          try {
            return execFileSync(python, ["-c", SAVED, text], { cwd: folder, encoding: "utf8" });
          } catch (error) {
            return error.stderr;
          }
        }, (text) => text.trim() === "same");
        if (said.trim() !== "same") {
          throw new Error(said);
        }
      },
    },
    {
      title: "another tensor beside it follows, and is followed",
      async act(user) {
        const first = view;
        await first.locator("#link").click();
        await user.page.locator(".quick-input-widget input.input").first().fill("%m");
        await user.page.locator(".quick-input-widget .monaco-list-row", { hasText: "as an expression" }).first().click();
        const second = await eventually("the second view", async () => {
          for (const frame of user.page.frames().slice(1)) {
            if ((await frame.locator("h1", { hasText: /^%m$/ }).count().catch(() => 0)) > 0) {
              return frame;
            }
          }
          return undefined;
        }, Boolean);
        await first.locator('#linked[aria-pressed="true"]').waitFor();
        await second.locator('#linked[aria-pressed="true"]').waitFor();
        await first.locator("button", { hasText: "Fit" }).click();
        await first.locator("#slice").fill("[138, :]");
        await first.locator("#slice").press("Enter");
        await eventually("the slice of the other", () => second.locator("#slice").inputValue(), (text) => text === "[138, :]");
        await first.locator("#slice").fill("[:, :]");
        await first.locator("#slice").press("Enter");
        await first.locator("#stage").focus();
        await user.press("n");
        const index = await eventually("a NaN", () => first.locator("#at").innerText(), (text) => /= -?nan/i.test(text));
        const at = /\[\d+, \d+\]/.exec(index)[0];
        await eventually("the cursor of the other", () => second.locator("#at").innerText(), (text) => text.startsWith(`%m${at} = `));
        await eventually("the other's value", () => first.locator("#other-at").innerText(), (text) => text.startsWith(`%m${at} = `));
        // The other way.
        await second.locator("#stage").focus();
        await user.press("Home");
        const there = await eventually("the cursor", () => second.locator("#at").innerText(), (text) => /^%m\[\d+, 0\]/.test(text));
        const row = Number(/\[(\d+)/.exec(there)[1]) + 1;
        await user.press("ArrowDown");
        await eventually("the first follows", () => first.locator("#at").innerText(), (text) => text.startsWith(`%n[${row}, 0]`));
        await second.locator("#linked").click();
        await second.locator('#linked[aria-pressed="false"]').waitFor();
        await first.locator('#linked[aria-pressed="false"]').waitFor();
        await second.locator("#stage").focus();
        await user.press("ArrowDown");
        await eventually("the cursor alone", () => second.locator("#at").innerText(), (text) => text.startsWith(`%m[${row + 1}, 0]`));
        const stays = await first.locator("#at").innerText();
        if (!stays.startsWith(`%n[${row}, 0]`)) {
          throw new Error(`the first has followed: ${stays}`);
        }
        view = second;
        await accessible(user, "linked");
        view = first;
        await user.closeTensor("%m");
        await view.locator("#link").waitFor();
      },
    },
    {
      title: "it is compared with another tensor, and the worst pair is found",
      image: "compare",
      clip: { x: 890, y: 34, width: 550, height: 810 },
      async act(user) {
        await view.locator("#compare").selectOption("file");
        await user.answerPath(join(folder, "other.npy"));
        await view.locator("#measure-difference[aria-pressed=true]").waitFor();
        await eventually("how many differ", () => figure(view, "different"), (text) => text.startsWith("1"));
        await eventually("the worst", () => figure(view, "max \\|A−B\\|"), (text) => near(text, known.far));
        await view.locator("#stage").focus();
        await user.press("w");
        const at = () => view.locator("#at").innerText();
        await eventually("the worst pair", at, (text) => text.startsWith("%n[50, 60] = ") && text.includes("ULP"));
        await user.press("b");
        await view.locator("#measure-b[aria-pressed=true]").waitFor();
        await view.locator("#measure-difference").click();
        await eventually("figures of the difference", () => figure(view, "min"), (text) => text === "0");
      },
    },
    {
      title: "it is compared with its dispatch, evaluated in float64",
      async act() {
        await view.locator("#compare-end").click();
        await view.locator("#compare").selectOption("reference");
        await view.locator("#measure-difference[aria-pressed=true]").waitFor();
        await eventually("how many differ", () => figure(view, "different"), (text) => text === "0");
        await eventually("the bound", () => figure(view, "outside of bound"), (text) => text === "0 of 150000");
      },
    },
    {
      title: "what it was is kept when it changes",
      async act(user) {
        await view.locator("#compare-end").click();
        await view.locator("#pin").click();
        await view.locator("#moment", { hasText: "now" }).waitFor();
        await user.enterInConsole("%n[0, 0] = 7");
        await eventually("the value now", () => figure(view, "max"), (text) => text.startsWith("7"));
        await eventually("two moments", () => view.locator("#moments").getAttribute("max"), (text) => Number(text) >= 2);
        await view.locator("#stage").focus();
        await user.press("[", "[");
        await eventually("the value then", () => figure(view, "max"), (text) => text !== "" && !text.startsWith("7"));
        await view.locator("#place", { hasText: "as at look.mlir:5" }).waitFor();
        await user.press("]", "]");
      },
    },
    {
      title: "a tensor of four axes has sliders, and is an image",
      async act(user) {
        await user.closeTensor("%n");
        await user.openTensor("%i");
        view = await user.webview('input[data-axis="1"]');
        await view.locator('input[data-axis="1"]').fill("2");
        await view.locator('input[data-axis="0"]').fill("1");
        await eventually("the slice", () => view.locator("#slice").inputValue(), (text) => text === "[1, 2, :, :]");
        await view.locator("#slice").fill("[1, 2, 20, :]");
        await view.locator("#slice").press("Enter");
        await view.locator("button", { hasText: "Plot" }).waitFor();
        await view.locator("#slice").fill("[1, 2, :, :]");
        await view.locator("#slice").press("Enter");
        await view.locator("button", { hasText: "Image" }).click();
        await view.locator("option", { hasText: "NCHW" }).first().waitFor({ state: "attached" });
        // Its first element has the least red, and its last the most.
        const pixel = (canvas, [x, y]) => {
          const at = [Math.floor(x * (canvas.width - 1)), Math.floor(y * (canvas.width / 1.5 - 2))];
          return [...canvas.getContext("2d").getImageData(...at, 1, 1).data];
        };
        const red = (at) => view.locator("#canvas").evaluate(pixel, at);
        await eventually("the picture's corners", async () => [await red([0.02, 0.02]), await red([0.98, 0.02])], ([left, right]) => left[3] === 255 && left[0] < 40 && right[0] > 215);
        // NaN in one of the channels is striped, and the legend says what black and white are.
        const stripes = (canvas) => {
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          let found = 0;
          for (let at = 0; at < data.length; at += 4) {
            found += data[at] === 255 && data[at + 1] === 0 && data[at + 2] === 255 ? 1 : 0;
          }
          return found;
        };
        await eventually("stripes", () => view.locator("#canvas").evaluate(stripes), (count) => count > 10);
        const legend = () => view.locator("#legend").innerText();
        await eventually("the legend", legend, (text) => /black\s+0\D.*white\s+1\.\d+/s.test(text) && text.includes("NaN"));
        await view.locator("#brightness").selectOption("0 to 1");
        await eventually("the legend of 0 to 1", legend, (text) => text.includes("numbers from 0 to 1") && text.includes("cut off"));
        await view.locator("#brightness").selectOption("automatic");
        await accessible(user, "image");
      },
    },
    {
      title: "a tensor of one axis is a line",
      async act(user) {
        await user.closeTensor("%i");
        await user.openTensor("%w");
        view = await user.webview("#stage canvas");
        await view.locator("button", { hasText: "Plot" }).waitFor();
      },
    },
    {
      title: "the hover over a name has a small picture",
      async act(user) {
        await user.closeTensor("%w");
        await user.press("Control+1");
        const token = user.page.locator(".editor-instance .view-line span span", { hasText: "%n" }).first();
        const picture = user.page.locator('.monaco-hover img[src^="data:image/bmp"]');
        await eventually("a picture", async () => {
          await user.page.mouse.move(5, 5);
          await token.hover();
          await picture.first().waitFor({ timeout: 3_000 }).catch(() => undefined);
          return (await picture.count()) > 0 && (await picture.first().evaluate((image) => image.naturalWidth));
        }, (width) => width > 40);
        await user.page.locator(".monaco-hover a", { hasText: "View Tensor" }).first().click();
        view = await user.webview("#stage canvas");
        await view.locator("h1", { hasText: "%n" }).waitFor();
      },
    },
    {
      title: "the panel says that the session has ended",
      async act(user) {
        await user.press("Control+1", "Shift+F5");
        await user.debuggingEnds();
        await view.locator("#place", { hasText: "the session has ended" }).waitFor();
      },
    },
    {
      title: "a tensor over the executions of its dispatch, and the way to one of them",
      async act(user) {
        await user.closeTensor("%n");
        // While the explorer is shown again, a click may open its neighbour.
        await eventually("loop.mlir", async () => {
          await user.choose("loop.mlir");
          return user.activeTab("loop.mlir", 4_000).then(() => true, () => false);
        }, Boolean);
        // What opens the file is over then, and takes no keys of the next boxes.
        await user.page.locator(".codelens-decoration", { hasText: "Debug" }).first().waitFor();
        await user.goToLine(9);
        await user.toggleBreakpoint();
        await user.lens(/^Debug$/);
        await user.giveArguments("@turns", { "%x": "16x16xf32=0.3", "%n": "5" });
        await user.stoppedAt(9);
        const calls = () => user.page.locator(".debug-call-stack").innerText();
        for (const run of [2, 3, 4]) {
          await user.press("F5");
          await eventually(`turn ${run}`, calls, (text) => text.includes(`run ${run}`));
        }
        await user.expandScope("Locals");
        await user.openTensor("%a");
        view = await user.webview('button:has-text("Over Time")');
        await view.locator("button", { hasText: "Over Time" }).click();
        const extent = () => view.locator("#times-extent").innerText();
        await eventually("the executions", extent, (text) => text.includes(": 3 times"));
        const count = await view.locator("#times-table tbody tr").count();
        for (let turn = 0; turn < count; turn++) {
          const row = await cells(view, "times-table", turn);
          const number = [0.3, ...known.turns][turn];
          if (!near(row[2], number) || !near(row[4], number)) {
            throw new Error(`execution ${turn + 1} is ${row}, not ${number}`);
          }
        }
        // The program stands where it stood.
        await user.stoppedAt(9);
        await eventually("turn 4", calls, (text) => text.includes("run 4"));
        await view.locator("#times-chart").focus();
        await user.press("Home");
        await eventually("the first", () => view.locator("#times-at").innerText(), (text) => text.startsWith("execution 1, command "));
        await keysReachAll(user, view);
        await accessible(user, "over-time");
        await user.screenshot(join(pictures, "over-time.png"));
        await view.locator('[aria-label="Go to execution 2"]').click();
        await eventually("turn 2", calls, (text) => text.includes("run 2"));
        // The curves stay, to choose another one.
        await eventually("the curves", () => view.locator("#times-table tbody tr").count(), (rows) => rows === count);
        await user.press("Control+1", "Shift+F5");
        await user.debuggingEnds();
        await user.closeTensor("%a");
      },
    },
    {
      title: "a file of tensors opens as their view",
      image: "weights",
      clip: { x: 348, y: 34, width: 1092, height: 640 },
      async act(user) {
        view = await user.chooseView("layers.safetensors", "#tensor");
        await view.locator(".type", { hasText: "64x48xf32" }).waitFor();
        await eventually("the mean", () => figure(view, "mean"), (text) => near(text, known.weight));
        await view.locator("#tensor").selectOption("bias");
        await view.locator(".type", { hasText: "48xi32" }).waitFor();
        await eventually("the maximum", () => figure(view, "max"), (text) => text === "47");
        await view.locator("#tensor").selectOption("weight");
        await view.locator(".type", { hasText: "64x48xf32" }).waitFor();
        // No hover of the explorer lies over it.
        await user.page.mouse.move(900, 800);
      },
    },
  ];
}
