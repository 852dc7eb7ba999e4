// A file of a megabyte whose weights are lines of 32,768 characters, as importers write them: VS Code wraps lines there, and
// each stop is far from the one before. The stopped line has to be on the screen, also once values are written beside lines.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./workbench.mjs";

const LAYERS = 34;
/** The layers at which the program stops, in an order that jumps. */
const STOPS = [1, 4, 5, 11, 14, 18, 23, 26, 30, 33];

/**
 * @param {{folder: string}} options
 * @returns {{title: string, image?: string, act: (user: import("./workbench.mjs").User) => Promise<void>}[]}
 */
export function screenScenario({ folder }) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, ".vscode"), { recursive: true });
  const { text, lines } = model();
  writeFileSync(join(folder, "wide.mlir"), text);
  const configuration = {
    type: "iree", request: "launch", name: "Wide", program: "${workspaceFolder}/wide.mlir", inputs: ["8x64xf32=0.5"], record: true,
  };
  writeFileSync(join(folder, ".vscode/launch.json"), JSON.stringify({ version: "0.2.0", configurations: [configuration] }));
  return [
    {
      title: `breakpoints in a file of ${(text.length / 1e6).toFixed(1)} MB`,
      async act(user) {
        await user.open("wide.mlir");
        await user.page.locator(".codelens-decoration", { hasText: "Debug" }).first().waitFor();
        for (const layer of STOPS) {
          await user.goToLine(lines[layer]);
          await user.toggleBreakpoint();
        }
        await user.goToLine(1);
      },
    },
    {
      title: "a constant is one line, with what it is like above it",
      image: "constants",
      clip: { x: 0, y: 0, width: 1440, height: 430 },
      async act(user) {
        const lenses = await eventually("a lens above each weight", () => lensesOnScreen(user), (all) => all.length >= 3);
        for (const { layer, says } of lenses) {
          const weight = weightOf(layer);
          const mean = weight.reduce((sum, it) => sum + it, 0) / weight.length;
          const deviation = Math.sqrt(weight.reduce((sum, it) => sum + (it - mean) ** 2, 0) / weight.length);
          const [, shownMean, shownDeviation] = /^64x64xf32 · μ (\S+) σ (\S+) · View$/.exec(says) ?? [];
          if (Number(shownMean) !== Number(mean.toPrecision(3)) || Number(shownDeviation) !== Number(deviation.toPrecision(3))) {
            throw new Error(`%w${layer}: ${says}, and the mean is ${mean}, the deviation ${deviation}`);
          }
        }
        // Of 34 weights a screen shows some; wrapped, one alone would take it all.
        const texts = () => user.page.locator(".editor-instance .view-lines").first().innerText();
        await eventually("weights on one line each", texts, (text) => /%w1:/.test(text) && /%w3:/.test(text) && !/[0-9a-f]{40}/.test(text));
      },
    },
    {
      title: "and its elements one click away",
      async act(user) {
        const [{ layer, id }] = await lensesOnScreen(user);
        await user.page.locator(`.codelens-decoration[widgetid="${id}"] a`, { hasText: "View" }).click();
        const page = await user.webview("canvas");
        const isShown = (text) => /64x64xf32/.test(text) && new RegExp(`%w${layer}\\b`).test(text);
        await eventually("the constant", () => page.locator("body").innerText(), isShown);
        await user.press("Control+W");
      },
    },
    ...STOPS.map((layer, index) => ({
      title: `the stopped line is on the screen: layer ${layer}`,
      async act(user) {
        await user.press("F5");
        await user.stoppedAt(lines[layer]);
        await staysOnScreen(user, lines[layer], index > 0);
      },
    })),
    {
      title: "and back again",
      async act(user) {
        await user.page.locator(".debug-toolbar .codicon-debug-reverse-continue").first().click();
        const before = lines[STOPS.at(-2)];
        await user.stoppedAt(before);
        await staysOnScreen(user, before, true);
      },
    },
  ];
}

/** Waits for the values beside the lines, and then looks where the stopped line is. */
async function staysOnScreen(user, line, hasValues) {
  const beside = user.page.locator(".editor-instance .view-line [class*='debug-inline-value'], .editor-instance .view-line .ced-colorspan");
  if (hasValues) {
    const values = () => user.page.locator(".editor-instance .view-lines").first().innerText();
    await eventually("values beside the lines", values, (text) => /μ|%a\d+ = 8x64/.test(text));
  }
  await beside.first().waitFor({ timeout: 1_000 }).catch(() => undefined);
  await user.page.waitForTimeout(500);
  const seen = await user.page.evaluate(() => {
    const band = document.querySelector(".editor-instance .view-overlays .debug-top-stack-frame-line");
    const window = band?.closest(".monaco-editor")?.getBoundingClientRect();
    const row = band?.getBoundingClientRect();
    return row && window ? { top: row.top, bottom: row.bottom, from: window.top, to: window.bottom } : null;
  });
  if (seen === null || seen.top < seen.from || seen.bottom > seen.to) {
    throw new Error(`line ${line} is not on the screen: ${JSON.stringify(seen)}`);
  }
}

/** The lenses of weights on the screen, each with the layer of the line under it; the document does not have them in this order. */
async function lensesOnScreen(user) {
  return user.page.evaluate(() => {
    const lines = [...document.querySelectorAll(".editor-instance .view-line")].map((it) => ({
      top: it.getBoundingClientRect().top, layer: Number(/^\s*%w(\d+):/.exec(it.textContent.replaceAll("\u00a0", " "))?.[1]),
    }));
    const lenses = [...document.querySelectorAll(".codelens-decoration")].filter((it) => it.textContent.includes("View"));
    return lenses
      .map((it) => ({ id: it.getAttribute("widgetid"), says: it.querySelector("a").textContent, box: it.getBoundingClientRect() }))
      .map(({ id, says, box }) => {
        const below = lines.filter((line) => line.top >= box.top + box.height / 2).sort((one, other) => one.top - other.top)[0];
        return { id, says, top: box.top, layer: below?.layer };
      })
      .filter((it) => Number.isInteger(it.layer))
      .sort((one, other) => one.top - other.top);
  });
}

/** The elements of a layer's weight. */
function weightOf(layer) {
  return Array.from({ length: 64 * 64 }, (_, index) => Math.fround(Math.sin(layer * 4096 + index) / 8));
}

/** A chain of layers, each with a dense weight in hexadecimal; and the line of each layer's last operation. */
function model() {
  const rows = ["func.func @forward(%a0: tensor<8x64xf32>) -> tensor<8x64xf32> {", "  %zero = arith.constant 0.0 : f32"];
  const lines = {};
  for (let layer = 1; layer <= LAYERS; layer++) {
    const weight = Buffer.from(Float32Array.from(weightOf(layer)).buffer);
    const tensor = "tensor<8x64xf32>";
    rows.push(
      `  %w${layer} = arith.constant dense<"0x${weight.toString("hex")}"> : tensor<64x64xf32>`,
      `  %empty${layer} = tensor.empty() : ${tensor}`,
      `  %fill${layer} = linalg.fill ins(%zero : f32) outs(%empty${layer} : ${tensor}) -> ${tensor}`,
      `  %a${layer} = linalg.matmul ins(%a${layer - 1}, %w${layer} : ${tensor}, tensor<64x64xf32>) outs(%fill${layer} : ${tensor}) -> ${tensor}`,
    );
    lines[layer] = rows.length;
  }
  rows.push(`  return %a${LAYERS} : tensor<8x64xf32>`, "}", "");
  return { text: rows.join("\n"), lines };
}
