// Compare Models: a module beside another one, beside what its dispatches mean, and beside itself with other inputs. What the
// graph shows is the report of `iree-dbg diff`, and its figures are NumPy's. The program is runtime/cli/tests/kept.mlir.

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./workbench.mjs";

/** Inputs that have no pattern. */
const INPUTS = `
import numpy
random = numpy.random.default_rng(7)
for name, shape in ("x", (4, 16)), ("w", (16, 16)):
    numpy.save(name + ".npy", random.uniform(-0.5, 0.5, shape).astype("f4"))
`;

/** The figures of the first run of @main_dispatch_1, of which both sides were kept: as the page writes them. */
const FIGURES = `
import glob, json, numpy
a, b = (numpy.load(sorted(glob.glob(f"kept/*.{side}.npy"))[0]) for side in "ab")
apart = numpy.abs(a.astype("f8") - b)
ulps = numpy.abs(a.view("i4").astype("i8") - b.view("i4"))
print(json.dumps({"apart": float(apart.max()), "at": int(apart.argmax()), "ulps": int(ulps.max()), "elements": a.size, "different": int((a != b).sum())}))
`;

/**
 * @param {{folder: string, program: string, python: string, source: string, path: string}} options
 * @returns {{title: string, image?: string, act: (user: import("./workbench.mjs").User) => Promise<void>}[]}
 */
export function differenceScenario({ folder, program, python, source, path }) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const env = { ...process.env, PATH: `${path}:${process.env.PATH}` };
  const options = { cwd: folder, env, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] };
  const machineCode = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=generic"];
  const text = readFileSync(source, "utf8");
  for (const [name, program_] of [["sound", text], ["faulty", text.replace("dense<0.25>", "dense<0.2501>")]]) {
    writeFileSync(join(folder, `${name}.mlir`), program_);
    execFileSync(program, ["compile", `${name}.mlir`, "-o", `${name}.vmfb`, "--", ...machineCode], options);
  }
  execFileSync(python, ["-c", INPUTS], options);
  try {
    execFileSync(program, ["diff", "sound.vmfb", "faulty.vmfb", "--input=@x.npy", "--input=@w.npy", "--keep=kept"], options);
    throw new Error("the other constant is no difference");
  } catch (error) {
    if (error.status !== 1) {
      throw error;
    }
  }
  const figures = JSON.parse(execFileSync(python, ["-c", FIGURES], options));
  const five = (value) => {
    const rounded = Number(value.toPrecision(5));
    return rounded < 1e-3 ? rounded.toExponential() : String(rounded);
  };
  const values = { "%input0": "@x.npy", "%input1": "@w.npy" };
  let view;
  const summary = () => view.locator("#difference-summary").innerText();
  const row = async (name) => {
    const all = await view.locator("aside").innerText();
    return all.replace(/\s+/g, " ").includes(name) ? all.replace(/\s+/g, " ") : all;
  };
  return [
    {
      title: "a module is compared with another one, and the first difference is in the middle",
      async act(user) {
        await user.open("sound.mlir");
        await user.page.locator(".codelens-decoration", { hasText: "Debug" }).first().waitFor();
        await user.closeAllEditors();
        await user.choose("sound.vmfb");
        view = await user.webview('.card[data-export="main"]');
        await user.command("IREE: Compare Models…");
        await pickBeforePath(user, "Another Module…");
        await user.answerPath(join(folder, "faulty.vmfb"));
        await user.giveArguments("@main", values);
        await view.locator("#difference-summary").waitFor();
        await eventually("what differs", summary, (text) => text.startsWith("1 of 3 differs · compared with faulty.vmfb"));
        await view.locator("aside h2.selected", { hasText: "%raised" }).first().waitFor();
        const { apart, at, ulps, elements, different } = figures;
        for (const expected of [
          "Differs by more than is allowed",
          `Elements ${different} of ${elements} differ`,
          `Max |A−B| ${five(apart)} at [${at}]`,
          `Max ULP ${ulps} at [`,
        ]) {
          await eventually(expected, () => row(expected), (text) => text.includes(expected));
        }
        await isCentred(view);
      },
    },
    {
      title: "both sides of it open in the view of tensors, with what they differ by",
      image: "difference",
      clip: { x: 348, y: 35, width: 1092, height: 1030 },
      async act(user) {
        await view.locator("aside button", { hasText: "Compare Tensors" }).first().click();
        const tensor = await user.webview("#measure-difference");
        await tensor.locator("#measure-difference[aria-pressed='true']").waitFor();
        await tensor.locator(".pair", { hasText: "of side B" }).waitFor();
        const page = async () => (await tensor.locator("main").innerText()).replace(/\s+/g, " ");
        await eventually("how many differ", page, (text) => text.includes(`different ${figures.different}`));
        await user.closeTensor("%raised: A and B");
      },
    },
    {
      title: "keys go from difference to difference, and what is equal says so",
      async act(user) {
        await view.locator("#stage").focus();
        await user.press("ArrowUp");
        await eventually("the box above", () => view.locator("aside h2.selected").first().innerText(), (text) => text === "%product");
        await view.locator("aside dd", { hasText: "Equal: no element differs" }).first().waitFor();
        await user.press("n");
        await eventually("the difference", () => view.locator("aside h2.selected").first().innerText(), (text) => text === "%raised");
        await user.press("p");
        await eventually("the same one", () => view.locator("aside h2.selected").first().innerText(), (text) => text === "%raised");
        // The loop runs three times.
        await view.locator("#difference-runs").selectOption("2");
        await view.locator("aside dd.error").first().waitFor();
      },
    },
    {
      title: "in high contrast, verdicts are told by strokes and words",
      async act(user) {
        await user.command("Preferences: Color Theme");
        await user.pick("Dark High Contrast");
        await view.locator("body.vscode-high-contrast").waitFor();
        await view.locator("#difference-legend").waitFor();
        await user.page.waitForTimeout(500);
      },
    },
    {
      title: "each dispatch is compared with its text, again with the inputs of last time",
      async act(user) {
        await user.command("IREE: Compare Models…");
        await user.pick("Float64 of Each Dispatch");
        const form = await user.argumentForm("@main", 60_000);
        await eventually("the last inputs", () => form.getByRole("textbox", { name: "%input0" }).inputValue(), (text) => text === "@x.npy");
        await form.locator("button.primary", { hasText: "Compare" }).click();
        await eventually("nothing differs", summary, (text) => text.startsWith("none of 3 differs · compared with the text"));
      },
    },
    {
      title: "a module that changes says so, and is compared again",
      async act() {
        copyFileSync(join(folder, "faulty.vmfb"), join(folder, "next.vmfb"));
        copyFileSync(join(folder, "faulty.vmfb.debug"), join(folder, "sound.vmfb.debug"));
        copyFileSync(join(folder, "next.vmfb"), join(folder, "sound.vmfb"));
        await view.locator("#difference .error", { hasText: "the module has changed since" }).waitFor();
        await view.locator("#difference button", { hasText: "Compare Again" }).click();
        await eventually("it is new", () => view.locator("#difference").innerText(), (text) => !text.includes("has changed since"));
      },
    },
    {
      title: "other inputs differ from the first dispatch on",
      async act(user) {
        await user.command("IREE: Compare Models…");
        await user.pick("Other Inputs…");
        await user.giveArguments("@main", values);
        await user.giveArguments("@main", { "%input0": "4x16xf32=0.5" });
        await eventually("what differs", summary, (text) => text.includes("compared with the same module with other inputs"));
        await eventually("the first", () => view.locator("aside h2.selected").first().innerText(), (text) => text === "%product");
      },
    },
    {
      title: "the comparison ends",
      async act() {
        await view.locator("#difference button", { hasText: "Stop Comparing" }).click();
        await view.locator("#difference").waitFor({ state: "hidden" });
        await eventually("its colours", () => view.locator("#colour").inputValue(), (text) => text === "state");
      },
    },
  ];
}

/** Chooses an entry that asks for a file next, in the same box. */
async function pickBeforePath(user, text) {
  await user.page.locator(".quick-input-widget .monaco-list-row", { hasText: text }).first().click();
}

/** The first difference is in the middle of the stage: the selected box's outline is drawn there. */
async function isCentred(view) {
  const pixel = () => view.evaluate(() => {
    const canvas = document.querySelector("#stage canvas.picture");
    const pen = canvas.getContext("2d");
    const [across, down] = [canvas.width / 2, canvas.height / 2];
    const { data } = pen.getImageData(across - 140, down - 60, 280, 120);
    let red = 0;
    for (let at = 0; at < data.length; at += 4) {
      red += data[at] > 150 && data[at + 1] < 110 && data[at + 2] < 110 && data[at + 3] > 200 ? 1 : 0;
    }
    return red;
  });
  await eventually("red in the middle", pixel, (red) => red > 50);
}
