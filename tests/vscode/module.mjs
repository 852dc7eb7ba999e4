// The editor of a module: what it has at a glance, its dispatches as a graph, and what a session has run of them.

import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAccessible } from "./accessibility.mjs";
import { eventually } from "./workbench.mjs";

/** How many dispatches the large graph has. */
const LARGE = 1500;

/** So many milliseconds for a picture of it would be seen. Here, 2 cores draw one in 10. */
const SLOW = 100;

/** A debug file whose program of tensors has many dispatches: to compile such a model takes minutes. */
const MANY = `
import sys, zipfile
blocks = int(sys.argv[1]) // 5
tensor = 'tensor<64x64xf32>'
lines, last = [], '%start'
def dispatch(result, operands):
    types = ', '.join([tensor] * len(operands))
    lines.append(f'    {result} = flow.dispatch @e::@many_dispatch_{len(lines)}_matmul_64x64({", ".join(operands)}) : ({types}) -> {tensor}')
for block in range(blocks):
    for name in 'qkv':
        dispatch(f'%{name}{block}', [last])
    dispatch(f'%s{block}', [f'%q{block}', f'%k{block}', '%mask'])
    dispatch(f'%o{block}', [f'%s{block}', f'%v{block}', last])
    last = f'%o{block}'
body = '\\n'.join(lines)
flow = f'module {{\\n  util.func public @many(%start: {tensor}, %mask: {tensor}) -> {tensor} {{\\n{body}\\n    util.return {last} : {tensor}\\n  }}\\n}}\\n'
with zipfile.ZipFile('classifier.vmfb.debug') as old, zipfile.ZipFile('many.vmfb.debug', 'w') as new:
    for name in old.namelist():
        new.writestr(name, flow if name == 'flow.mlir' else old.read(name))
`;

/** Two layers, as an exporter names their operations, with a weight that the compiler does not write into dispatches. */
function layers() {
  const sixteen = [...Array(16).keys()];
  const rows = sixteen.map((row) => `[${sixteen.map((at) => `${(at * 7 + row) % 5}.5`).join(", ")}]`);
  const types = "(tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>";
  const products = ["0/attention", "0/output", "1/attention", "1/output"].map((name, at) => {
    const from = at === 0 ? "%x" : `%m${at - 1}`;
    return `  %m${at} = stablehlo.dot_general ${from}, %w, contracting_dims = [1] x [0] : ${types} loc("/model/layer.${name}/MatMul")`;
  });
  return [
    "func.func @layers(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {",
    `  %w = stablehlo.constant dense<[${rows.join(", ")}]> : tensor<16x16xf32>`,
    ...products, "  return %m3 : tensor<4x16xf32>", "}", "",
  ].join("\n");
}

/**
 * Measures how long a page works in each of its frames from now on. Returns what tells that: how many frames there were, and
 * how many milliseconds they took.
 */
async function timesOfFrames(view) {
  await view.evaluate(() => {
    const ask = window.requestAnimationFrame.bind(window);
    window.timesOfFrames = [];
    window.requestAnimationFrame = (act) => ask((now) => {
      const began = performance.now();
      act(now);
      window.timesOfFrames.push(performance.now() - began);
    });
  });
  return async () => {
    const times = (await view.evaluate(() => window.timesOfFrames)).sort((one, other) => one - other);
    return { count: times.length, median: times[times.length >> 1] ?? Infinity, worst: times.at(-1) };
  };
}

/**
 * @param {{folder: string, program: string, python: string, example: string, path: string}} options
 * @returns {{title: string, image?: string, act: (user: import("./workbench.mjs").User) => Promise<void>}[]}
 */
export function moduleScenario({ folder, program, python, example, path }) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  copyFileSync(example, join(folder, "classifier.mlir"));
  const env = { ...process.env, PATH: `${path}:${process.env.PATH}` };
  const run = (...args) => execFileSync(program, args, { cwd: folder, env, stdio: ["ignore", "ignore", "inherit"] });
  run("compile", "classifier.mlir", "-o", "classifier.vmfb");
  writeFileSync(join(folder, "layers.mlir"), layers());
  run("compile", "layers.mlir", "-o", "layers.vmfb");
  writeFileSync(join(folder, "host.mlir"), "func.func @sum(%a: i32, %b: i32) -> i32 {\n  %s = arith.addi %a, %b : i32\n  return %s : i32\n}\n");
  run("compile", "host.mlir", "-o", "host.vmfb");
  copyFileSync(join(folder, "classifier.vmfb"), join(folder, "many.vmfb"));
  execFileSync(python, ["-c", MANY, String(LARGE)], { cwd: folder });
  run(
    "run", "--module=classifier.vmfb", "--input=1x16xf32=0.1", "--device_profiling_output=classifier.ireeprof",
  );
  const selected = (view) => view.locator("aside h2.selected").innerText();
  let view;
  return [
    {
      title: "a vmfb opens at a glance",
      image: "module",
      async act(user) {
        // Until VS Code knows its extensions, it opens a module as any file of bytes.
        await user.open("classifier.mlir");
        await user.page.locator(".codelens-decoration", { hasText: "Debug" }).first().waitFor();
        await user.closeAllEditors();
        await user.choose("classifier.vmfb");
        view = await user.webview('.card[data-export="classify"]');
        const card = view.locator('.card[data-export="classify"]');
        await card.locator("text=%input0: tensor<1x16xf32>").waitFor();
        await view.locator('#map [data-part="executable"]').first().waitFor();
        await view.locator("text=as it was compiled").waitFor();
        await view.locator("summary", { hasText: "hal" }).first().waitFor();
        await isAccessible(user, view);
      },
    },
    {
      title: "its dispatches are a graph, with the names of the source",
      async act(user) {
        await view.locator("#tab-graph").click();
        await view.locator("aside dd", { hasText: /^4$/ }).first().waitFor();
        await view.locator("#search").fill("total");
        await eventually("what was found", () => view.locator("#found").innerText(), (text) => text === "2 found");
        await view.locator("#search").press("Enter");
        await view.locator("aside h2.selected", { hasText: "%total" }).waitFor();
        await view.locator("aside td", { hasText: "%exponentials" }).waitFor();
        await isAccessible(user, view);
      },
    },
    {
      title: "keys follow the tensors, go to the line and break there",
      async act(user) {
        await view.locator("#search").press("Escape");
        await user.press("ArrowUp");
        await eventually("the box above", () => selected(view), (text) => text === "%exponentials");
        await user.press("ArrowDown");
        await eventually("the box below", () => selected(view), (text) => text === "%total");
        await user.press("b", "Enter");
        await user.activeTab("classifier.mlir");
        await eventually("the line", () => user.cursor(), (text) => text.startsWith("Ln 44,"));
        await user.page.locator(".editor-instance .codicon-debug-breakpoint").first().waitFor();
      },
    },
    {
      title: "a session shows in the graph what has run, and how long that took",
      image: "graph",
      async act(user) {
        await view.locator("#tab-overview").click();
        await view.locator("button", { hasText: /^Debug$/ }).first().click();
        await user.giveArguments("@classify", { "%input0": "1x16xf32=9" });
        await user.page.locator(".debug-toolbar").waitFor();
        await eventually("the stop", () => user.cursor(), (text) => text.startsWith("Ln 44,"));
        await view.locator("#tab-graph").click();
        await view.locator("#stage").focus();
        await user.press("c");
        await view.locator("aside dd", { hasText: "running now" }).waitFor();
        await user.press("ArrowUp");
        await view.locator("aside dd", { hasText: /^as command \d+$/ }).waitFor();
        await view.locator("aside dd", { hasText: "4 infinite" }).waitFor();
        await view.locator("#time").waitFor();
        await eventually("the count", () => view.locator("#overlay").innerText(), (text) => /^\d+ commands have run$/.test(text));
      },
    },
    {
      title: "its tensors open from there",
      async act(user) {
        await view.locator("aside button", { hasText: "%exponentials" }).click();
        const tensor = await user.webview("#stage canvas#canvas");
        await tensor.locator("h1", { hasText: "%exponentials" }).waitFor();
        await user.closeTensor("%exponentials");
      },
    },
    {
      title: "NaN is found in the graph, and stays when the program has ended",
      async act(user) {
        await user.press("F5");
        // It has wrong results, so it stays at its end.
        await user.notification("Result 0 has 4 NaN among 4 elements.");
        await user.stoppedAt(62);
        await user.press("F5");
        await user.debuggingEnds();
        await view.locator("#stage").focus();
        await user.press("Escape");
        await view.locator("aside dd", { hasText: "4 of 4" }).waitFor();
        // From one box with NaN or infinities to the next one.
        const numbers = async () => {
          await user.press("n");
          return view.locator("aside dd.error").first().innerText({ timeout: 3_000 }).catch(() => "");
        };
        await eventually("the NaN", numbers, (text) => text.startsWith("4 NaN"));
      },
    },
    {
      title: "a profile lies over the graph",
      async act(user) {
        await view.locator("button", { hasText: "Profile…" }).click();
        await user.answerPath(join(folder, "classifier.ireeprof"));
        await eventually("the profile", () => view.locator("#overlay").innerText(), (text) => text.includes("times of classifier.ireeprof"));
        await view.locator("aside dt", { hasText: "In the profile" }).waitFor();
        await isAccessible(user, view);
      },
    },
    {
      title: "a narrow editor has all of it",
      async act(user) {
        await user.page.setViewportSize({ width: 900, height: 900 });
        await view.locator("#tab-overview").click();
        await view.locator("#map div").first().waitFor();
      },
    },
    {
      title: "a narrow graph",
      async act(user) {
        await view.locator("#tab-graph").click();
        await view.locator("aside h2.selected").waitFor();
        await user.page.locator(".monaco-workbench").waitFor();
      },
    },
    {
      title: "layers are groups that open and collapse",
      async act(user) {
        await user.page.setViewportSize({ width: 1440, height: 1300 });
        await user.closeAllEditors();
        view = await user.chooseView("layers.vmfb", '.card[data-export="layers"]');
        await view.locator("#tab-graph").click();
        await view.locator("#grouped", { hasText: "names of the model's nodes" }).waitFor();
        await view.locator("button", { hasText: "Collapse All" }).click();
        await view.locator("#stage").focus();
        const first = async () => {
          await user.press("Home");
          return selected(view);
        };
        await eventually("the first group", first, (text) => text === "layer.0");
        await view.locator("aside dd", { hasText: /^2$/ }).waitFor();
        await user.press("Enter");
        await view.locator("aside button", { hasText: /^Collapse$/ }).waitFor();
        await eventually("a box in it", first, (text) => text.endsWith("= %m0"));
        await view.locator("aside dd button", { hasText: "layer.0" }).waitFor();
      },
    },
    {
      title: "search finds what is in a collapsed group, and Enter opens it",
      async act(user) {
        await view.locator("button", { hasText: "Collapse All" }).click();
        await view.locator("#search").fill("layer.1/output");
        await eventually("what was found", () => view.locator("#found").innerText(), (text) => text !== "" && text !== "0 found");
        await view.locator("#search").press("Enter");
        await eventually("the box", () => selected(view), (text) => text.endsWith("= %m3"));
        await view.locator("#search").press("Escape");
      },
    },
    {
      title: "weights are boxes, if one wants",
      async act(user) {
        await view.locator("button", { hasText: "Expand All" }).click();
        await view.locator("#weights").setChecked(true);
        await view.locator("#search").fill("@__constant_tensor_16x16xf32");
        const found = () => view.locator("#found").innerText();
        await eventually("the weight and what takes it", found, (text) => text === "5 found");
        await view.locator("#weights").setChecked(false);
        await view.locator("#search").fill("@__constant_tensor");
        await eventually("what takes it", found, (text) => text === "4 found");
        await view.locator("#weights").setChecked(true);
        await view.locator("#search").press("Escape");
      },
    },
    {
      title: "a picture of it is saved as SVG",
      async act(user) {
        const file = join(folder, "picture.svg");
        rmSync(file, { force: true });
        await view.locator("button", { hasText: "Export SVG…" }).click();
        await user.answerPath(file);
        const isWhole = async () => existsSync(file) && readFileSync(file, "utf8").includes("</svg>");
        await eventually("the file", isWhole, Boolean);
        const text = readFileSync(file, "utf8");
        const problem = await view.evaluate((text) => {
          const read = new DOMParser().parseFromString(text, "image/svg+xml");
          return read.querySelector("parsererror")?.textContent ?? [...read.querySelectorAll("text")].map((it) => it.firstChild.data).join(" ");
        }, text);
        for (const title of ["layer.0", "layer.1", "MatMul = %m3", "@__constant_tensor"]) {
          if (!problem.includes(title)) {
            throw new Error(`no ${title} in the picture: ${problem}`);
          }
        }
      },
    },
    {
      title: "a session begins and runs to a box, where the graph opens",
      async act(user) {
        await view.locator("#search").fill("= %m2");
        await view.locator("#search").press("Enter");
        await eventually("the box", () => selected(view), (text) => text.endsWith("= %m2"));
        await view.locator("aside button", { hasText: "Break Here" }).click();
        await view.locator("aside button", { hasText: "Remove Breakpoint" }).click();
        await view.locator("aside button", { hasText: "Break Here" }).waitFor();
        await view.locator("aside button", { hasText: "Debug to Here" }).click();
        await user.giveArguments("@layers", { "%input0": "4x16xf32=1" });
        await user.page.locator(".debug-toolbar").waitFor();
        await view.locator("aside dd", { hasText: "running now" }).waitFor();
        await user.stoppedAt(5);
        await view.locator("#search").fill("= %m3");
        await view.locator("#search").press("Enter");
        await view.locator("aside button", { hasText: "Run to Here" }).click();
        await eventually("the stop", () => view.locator("aside dd", { hasText: "running now" }).count(), (count) => count === 1);
        // The graph is drawn once more for the stop, which may take a key.
        await eventually("the weights", async () => {
          await view.locator("#search").fill("@__constant_tensor_16x16xf32");
          await view.locator("#search").press("Enter");
          return view.locator("aside h2.selected", { hasText: "@__constant_tensor_16x16xf32" }).count();
        }, (count) => count === 1);
        await view.locator("aside button", { hasText: /^View$/ }).click();
        const tensor = await user.webview("#stage canvas#canvas");
        await tensor.locator("h1", { hasText: "__constant_tensor_16x16xf32" }).waitFor();
        await user.closeTensor("@__constant_tensor_16x16xf32");
        await user.press("F5");
        await user.debuggingEnds();
      },
    },
    {
      title: "without dispatches there is one sentence",
      async act(user) {
        await user.closeAllEditors();
        view = await user.chooseView("host.vmfb", '.card[data-export="sum"]');
        await view.locator("#tab-graph").click();
        await view.locator("#graph > .message", { hasText: "This module has no dispatches." }).waitFor();
        if (await view.locator("#graph .bar:visible").count() > 0 || await view.locator("#stage").isVisible()) {
          throw new Error("there is a bar or a stage");
        }
        const debugFile = join(folder, "host.vmfb.debug");
        const kept = readFileSync(debugFile);
        rmSync(debugFile);
        await view.locator("#graph > .message", { hasText: "`iree-dbg compile` makes one" }).waitFor();
        writeFileSync(debugFile, kept);
      },
    },
    {
      title: `a graph of ${LARGE} dispatches moves at once`,
      async act(user) {
        await user.page.setViewportSize({ width: 1440, height: 1300 });
        await user.closeAllEditors();
        await user.choose("many.vmfb");
        view = await user.webview('.card[data-export="classify"]');
        await view.locator("#tab-graph").click();
        await view.locator("aside dd", { hasText: String(LARGE) }).waitFor();
        const stage = view.locator("#stage");
        const times = await timesOfFrames(view);
        await stage.hover();
        for (let turn = 0; turn < 60; turn++) {
          await user.page.mouse.wheel(0, 400);
        }
        await stage.focus();
        await user.press("0");
        for (let turn = 0; turn < 30; turn++) {
          await user.press("+");
        }
        await user.press("End");
        await eventually("the last box", () => selected(view), (text) => text === `%o${LARGE / 5 - 1}` || text.includes("matmul"));
        const { count, median, worst } = await times();
        console.log(`        ${count} pictures, median ${median.toFixed(1)} ms, worst ${worst.toFixed(1)} ms`);
        if (count < 30 || median > SLOW) {
          throw new Error(`${count} pictures with a median of ${median} ms`);
        }
      },
    },
  ];
}
