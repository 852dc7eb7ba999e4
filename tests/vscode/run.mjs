// The end-to-end test: packages the extension, installs it into a real VS Code, and acts as a user
// does. A scenario is a list of steps; each leaves a screenshot in tests/vscode/.work/screenshots.
//
//   usage: node tests/vscode/run.mjs [--update-images]
//
//   --update-images   copies the pictures that the extension's README shows to editors/vscode/images
//
//   IREE_DBG          the iree-dbg to test; without it the newest of target/{release,fast,debug}
//   IREE_DBG_VSCODE   where tests/vscode/install.sh put VS Code
//   SCENARIO          plays only one scenario, in the light theme, too: `debug` (the steps of scenario.mjs), `minute` (a stranger's first minutes),
//                     `home` (launches that go wrong, and how they are explained), `tensors` (the view of tensors), `module` (the
//                     editor of a module), `past` (a recorded program goes back), `verdict` (results that are wrong), `difference` (models that are compared), `python` (a model as its Python), `screen` (stops in a wide file), `stages` (what becomes of a function), `trust` (a
//                     workspace that is not trusted) or `door` (a page at a port)

import { execFileSync } from "node:child_process";
import { accessSync, constants, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { writeAnimation } from "./animation.mjs";
import { Workbench } from "./workbench.mjs";
import { differenceScenario } from "./difference.mjs";
import { playDoor } from "./door.mjs";
import { homeScenario } from "./home.mjs";
import { minuteScenario } from "./minute.mjs";
import { moduleScenario } from "./module.mjs";
import { pastScenario } from "./past.mjs";
import { pythonScenario } from "./python.mjs";
import { scenario } from "./scenario.mjs";
import { screenScenario } from "./screen.mjs";
import { stagesScenario } from "./stages.mjs";
import { tensorScenario } from "./tensors.mjs";
import { trustScenario } from "./trust.mjs";
import { verdictScenario } from "./verdict.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../..");
const extension = join(root, "editors/vscode");
const work = join(here, ".work");
const updateImages = process.argv.includes("--update-images");

const only = process.env.SCENARIO;
/** Whether a scenario is played. */
const wants = (name) => !only || only === name;
/** The themes that a scenario is played in, each with its name: light only if the scenario is named. */
const themes = ([dark, light]) =>
  [[dark, "Default Dark Modern"], [light, "Default Light Modern"]].slice(0, only || updateImages ? 2 : 1);
const results = { passed: 0, failed: 0 };

try {
  await main();
} catch (error) {
  results.failed++;
  console.error(`FAILED  preparation\n        ${error.message}`);
}
console.log(`${results.passed} passed, ${results.failed} failed`);
process.exit(results.failed === 0 ? 0 : 1);

async function main() {
  const program = findProgram();
  const compiler = findCompiler();
  const tools = execFileSync(join(here, "install.sh"), { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] })
    .trim().split("\n").at(-1);

  rmSync(work, { recursive: true, force: true });
  const workspace = join(work, "workspace");
  const pictures = join(work, "screenshots");
  mkdirSync(pictures, { recursive: true });
  cpSync(join(here, "workspace"), workspace, { recursive: true });
  copyFileSync(join(root, "runtime/cli/tests/device/perceptron.mlir"), join(workspace, "perceptron.mlir"));
  compile(compiler, workspace);
  const vsix = packageExtension();

  const common = {
    tools,
    home: join(work, "home"),
    path: dirname(compiler),
    machineSettings: { "iree-dbg.path": program, "iree-dbg.ireeCompile": compiler },
  };
  const settings = {
    "workbench.startupEditor": "none",
    "workbench.enableExperiments": false,
    "workbench.colorTheme": "Default Dark Modern",
    "telemetry.telemetryLevel": "off",
    "security.workspace.trust.enabled": false,
    "extensions.ignoreRecommendations": true,
    "chat.commandCenter.enabled": false,
    "git.enabled": false,
    "editor.minimap.enabled": false,
    "window.menuBarVisibility": "hidden",
    "debug.openDebug": "openOnDebugBreak",
    "iree-dbg.tips": false,
  };
  /** What is typed stays unsaved; in a browser, VS Code would save it. */
  const typed = { ...settings, "files.autoSave": "off" };
  if (wants("door")) {
    await playDoor({ program, tools, folder: join(work, "door") }, playOne);
  }
  if (only === "stages") {
    await playIn(new Workbench({ ...common, workspace, settings: typed }), vsix, stagesScenario(), pictures);
  }
  if (wants("debug")) {
    const listing = execFileSync(
      program, ["dump", "--output=disassembly", "--bytecode_offsets", join(workspace, "euclid.vmfb")], { encoding: "utf8" },
    );
    const steps = [...scenario({ listing: listing.split("\n") }), ...stagesScenario()];
    await playIn(new Workbench({ ...common, workspace, settings: typed }), vsix, steps, pictures);
  }
  if (wants("minute")) {
    const whole = packageExtension(program);
    for (const [theme, name] of themes(["dark", "light"])) {
      const folder = join(work, `minute-${theme}`);
      const steps = minuteScenario({ folder, compiler, theme, installs: theme === "dark" });
      // The program is the one in the package, and no compiler is on the PATH.
      const stranger = new Workbench({
        ...common, home: join(work, `stranger-${theme}`), workspace: folder, path: dirname(process.execPath), machineSettings: {},
        // The pictures of the walkthrough are of any machine, so they show no folders.
        settings: {
          ...settings, "workbench.colorTheme": name, "iree-dbg.tips": true, "debug.showVariableTypes": false, "breadcrumbs.enabled": false,
        },
        withoutCompiler: true,
        // iree-compile itself needs nothing else.
        variables: { PIP_NO_DEPS: "1", PIP_NO_COMPILE: "1" },
      });
      await playIn(stranger, whole, steps, join(pictures, `minute-${theme}`));
    }
  }
  if (wants("home")) {
    const folder = join(work, "home-workspace");
    const steps = homeScenario({ folder, program, compiler });
    // The compiler is not on the PATH, as on a new machine.
    const home = new Workbench({
      ...common, home: join(work, "newcomer"), workspace: folder, settings, path: dirname(process.execPath),
      machineSettings: { "iree-dbg.path": program }, withoutCompiler: true,
    });
    await playIn(home, vsix, steps, join(pictures, "home"));
  }
  if (wants("tensors")) {
    const folder = join(work, "tensor-workspace");
    for (const [name, theme] of themes(["tensors", "tensors-light"])) {
      const steps = tensorScenario({ folder, python: join(dirname(compiler), "python"), pictures: join(pictures, `${name}-accessible`) });
      const workbench = new Workbench({
        ...common, home: join(work, name), workspace: folder, settings: { ...settings, "workbench.colorTheme": theme },
      });
      await playIn(workbench, vsix, steps, join(pictures, name));
    }
  }
  if (wants("module")) {
    const folder = join(work, "module-workspace");
    const steps = moduleScenario({
      folder, program, path: dirname(compiler), python: join(dirname(compiler), "python"),
      example: join(root, "runtime/cli/example/classifier.mlir"),
    });
    for (const [name, theme] of themes(["module", "module-light"])) {
      const workbench = new Workbench({
        ...common, home: join(work, name), workspace: folder, settings: { ...settings, "workbench.colorTheme": theme },
      });
      await playIn(workbench, vsix, steps, join(pictures, name));
    }
  }
  if (wants("past")) {
    const folder = join(work, "past-workspace");
    const steps = pastScenario({ folder, example: join(root, "runtime/cli/example/classifier.mlir") });
    const workbench = new Workbench({ ...common, home: join(work, "past"), workspace: folder, settings });
    await playIn(workbench, vsix, steps, join(pictures, "past"));
  }
  if (wants("verdict")) {
    const folder = join(work, "verdict-workspace");
    const steps = verdictScenario({ folder, program, example: join(root, "runtime/cli/example/classifier.mlir") });
    const workbench = new Workbench({ ...common, home: join(work, "verdict"), workspace: folder, settings });
    await playIn(workbench, vsix, steps, join(pictures, "verdict"));
  }
  if (wants("difference")) {
    const folder = join(work, "difference-workspace");
    const steps = differenceScenario({
      folder, program, path: dirname(compiler), python: join(dirname(compiler), "python"),
      source: join(root, "runtime/cli/tests/kept.mlir"),
    });
    const workbench = new Workbench({ ...common, home: join(work, "difference"), workspace: folder, settings });
    await playIn(workbench, vsix, steps, join(pictures, "difference"));
  }
  if (wants("python")) {
    const folder = join(work, "python-workspace");
    const steps = pythonScenario({ folder, example: join(root, "runtime/cli/tests/python") });
    const workbench = new Workbench({ ...common, home: join(work, "python"), workspace: folder, settings });
    await playIn(workbench, vsix, steps, join(pictures, "python"));
  }
  if (wants("screen")) {
    const folder = join(work, "screen-workspace");
    const workbench = new Workbench({ ...common, home: join(work, "screen"), workspace: folder, settings });
    await playIn(workbench, vsix, screenScenario({ folder }), join(pictures, "screen"));
  }
  if (!wants("trust")) {
    return;
  }
  const asks = {
    ...settings, "files.autoSave": "off", "security.workspace.trust.enabled": true, "security.workspace.trust.startupPrompt": "never",
    "security.workspace.trust.banner": "never",
  };
  const stranger = join(work, "stranger");
  const trust = new Workbench({
    ...common, home: join(work, "cautious"), workspace: stranger, settings: asks, asksForTrust: true,
  });
  await playIn(trust, vsix, trustScenario(stranger), join(pictures, "trust"));
}

/** Runs a step that needs no workbench. */
async function playOne(title, act) {
  try {
    await act();
    results.passed++;
    console.log(`ok      ${title}`);
  } catch (error) {
    results.failed++;
    console.log(`FAILED  ${title}\n        ${error.message}`);
  }
}

/** Runs steps in a workbench of their own. */
async function playIn(workbench, vsix, steps, pictures) {
  mkdirSync(pictures, { recursive: true });
  try {
    await workbench.install(vsix);
    await play(await workbench.start(), steps, pictures);
  } finally {
    await workbench.stop();
  }
}

/** Steps build on each other: the first failure ends the scenario, and the rest count as failed. */
async function play(user, steps, pictures) {
  for (const [index, { title, image, clip, animation, act }] of steps.entries()) {
    const picture = join(pictures, `${String(index + 1).padStart(2, "0")}-${title.replace(/[^a-z0-9]+/gi, "-")}.png`);
    try {
      user.frames = updateImages && animation !== undefined ? [] : undefined;
      await act(user);
      await user.screenshot(picture);
      if (user.frames !== undefined) {
        writeAnimation(extension, join(extension, "images", `${animation}.gif`), user.frames);
      }
      // Pictures are dark, unless they are there in both themes.
      if (updateImages && image !== undefined && (!pictures.endsWith("light") || image.endsWith("-light"))) {
        const kept = join(extension, "images", `${image}.png`);
        mkdirSync(dirname(kept), { recursive: true });
        await user.screenshot(kept, clip);
      }
      results.passed++;
      console.log(`ok      ${title}`);
    } catch (error) {
      await user.screenshot(picture).catch(() => undefined);
      results.failed += steps.length - index;
      console.log(`FAILED  ${title}\n        ${error.message}\n        seen: ${picture}`);
      for (const message of await user.notifications().catch(() => [])) {
        console.log(`        VS Code says: ${message}`);
      }
      return;
    }
  }
}

/** A module by stock iree-compile, for its disassembly and for hovers about its ABI; and half of it. */
function compile(compiler, workspace) {
  execFileSync(
    compiler,
    ["euclid.mlir", "--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx", "-o", "euclid.vmfb"],
    { cwd: workspace, stdio: ["ignore", "inherit", "inherit"] },
  );
  const module = readFileSync(join(workspace, "euclid.vmfb"));
  writeFileSync(join(workspace, "damaged.vmfb"), module.subarray(0, module.length / 2));
}

/** The package without a program, whose users name one in the settings; or with it, for this platform. */
function packageExtension(program) {
  const npm = (...args) => execFileSync("npm", args, { cwd: extension, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  if (!existsSync(join(extension, "node_modules/.bin/vsce"))) {
    npm("ci", "--ignore-scripts", "--loglevel=error");
  }
  const programs = program === undefined ? [] : [program];
  const said = npm("run", "package", "--loglevel=error", "--", ...programs, "--out", join(work, "packages"));
  if (/\bWARN/.test(said)) {
    throw new Error(`vsce warns:\n${said}`);
  }
  return said.trim().split("\n").at(-1);
}

function findProgram() {
  const built = process.env.IREE_DBG
    ? [resolve(process.env.IREE_DBG)]
    : ["dist", "release", "debug"].map((profile) => join(root, "target", profile, "iree-dbg"));
  const [newest] = built.filter(isExecutable).sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  if (newest === undefined) {
    throw new Error("no iree-dbg to test: run `cargo build` first, or set IREE_DBG");
  }
  return newest;
}

function findCompiler() {
  const folders = [join(root, ".venv/bin"), ...(process.env.PATH ?? "").split(delimiter)];
  const found = folders.map((folder) => join(folder, "iree-compile")).find(isExecutable);
  if (found === undefined) {
    throw new Error(
      "no iree-compile: python3 -m venv .venv && .venv/bin/pip install iree-base-compiler iree-base-runtime",
    );
  }
  return found;
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
