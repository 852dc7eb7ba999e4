// The view of tensors, on tensors that NumPy has made: what it shows is what NumPy says of them.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./workbench.mjs";

const SOURCE = `func.func @look(%image: tensor<2x3x40x60xf32>, %m: tensor<300x500xf32>, %v: tensor<400xf32>) -> (tensor<2x3x40x60xf32>, tensor<300x500xf32>, tensor<400xf32>) {
  %i = arith.addf %image, %image : tensor<2x3x40x60xf32>
  %n = arith.negf %m : tensor<300x500xf32>
  %w = arith.mulf %v, %v : tensor<400xf32>
  return %i, %n, %w : tensor<2x3x40x60xf32>, tensor<300x500xf32>, tensor<400xf32>
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
print(json.dumps({'nans': int(np.isnan(m).sum()), 'mean': f.mean(), 'median': np.median(f), 'min': float(f.min()),
  'element': float(-m[0, 0]), 'image': float(image[1, 2, 20, 30] * 2),
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
 * @param {{folder: string, python: string}} options
 * @returns {{title: string, image?: string, act: (user: import("./workbench.mjs").User) => Promise<void>}[]}
 */
export function tensorScenario({ folder, python }) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "look.mlir"), SOURCE);
  mkdirSync(join(folder, ".vscode"));
  const configuration = { type: "iree", request: "launch", name: "Look", program: "${workspaceFolder}/look.mlir", record: false };
  writeFileSync(join(folder, ".vscode/launch.json"), JSON.stringify({ version: "0.2.0", configurations: [configuration] }));
  const known = JSON.parse(execFileSync(python, ["-c", ARRAYS], { cwd: folder, encoding: "utf8" }));
  const near = (text, number) => Math.abs(Number(text) - number) <= Math.abs(number) * 1e-5 + 1e-9;
  const figure = async (view, name) => {
    const term = view.locator("dt", { hasText: new RegExp(`^${name}$`) });
    return (await term.locator("xpath=following-sibling::dd[1]").innerText({ timeout: 1_000 }).catch(() => "")).trim();
  };
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
        const copied = await eventually("a copy", () => user.page.evaluate(() => navigator.clipboard.readText()), (text) => text.startsWith("np.array("));
        await view.locator("#slice").fill("[:, :]");
        await view.locator("#slice").press("Enter");
        // A file of the run in another theme would be asked about.
        rmSync(join(folder, "saved.npy"), { force: true });
        await view.locator("#save").click();
        await user.answerPath(join(folder, "saved.npy"));
        await eventually("saved.npy", () => existsSync(join(folder, "saved.npy")), Boolean);
        const said = await eventually("NumPy", () => {
          try {
            return execFileSync(python, ["-c", SAVED, copied], { cwd: folder, encoding: "utf8" });
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
      title: "a file of tensors opens as their view",
      image: "weights",
      clip: { x: 348, y: 34, width: 1092, height: 640 },
      async act(user) {
        await user.closeTensor("%n");
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
