// A real VS Code for a test: code-server on a free port, a Chromium that shows it, and the input of
// a user. Everything is read from the page, as the user sees it, and never through VS Code's own
// interfaces. Every wait is for something to appear. The only clock is the limit after which a wait
// has failed.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { join } from "node:path";

const LIMIT = 30_000;

/** Polls `read` until `accept` returns true for its result. The error shows the last result. */
export async function eventually(what, read, accept, limit = LIMIT) {
  const end = Date.now() + limit;
  for (;;) {
    const seen = await read();
    if (accept(seen)) {
      return seen;
    }
    if (Date.now() > end) {
      throw new Error(`${what} did not appear; last seen: ${JSON.stringify(seen)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The folders and the setup of a workbench. */
export class Workbench {
  /**
   * @param {{tools: string, home: string, workspace: string, settings: object, machineSettings: object, path: string,
   *   asksForTrust?: boolean, withoutCompiler?: boolean, variables?: Record<string, string>}} options with `asksForTrust`, a folder is untrusted until the user trusts it
   */
  constructor(options) {
    this.options = options;
    this.entry = join(options.tools, "node_modules/code-server/out/node/entry.js");
    this.directories = [
      "--user-data-dir", join(options.home, "user"),
      "--extensions-dir", join(options.home, "extensions"),
    ];
  }

  /** The environment of code-server: ours with `path` first, without variables of displays and editors. */
  environment() {
    const inherited = process.env.PATH.split(":");
    const others = this.options.withoutCompiler
      ? inherited.filter((folder) => !existsSync(join(folder, "iree-compile")))
      : inherited;
    const environment = { ...process.env, ...this.options.variables, PATH: [this.options.path, ...others].join(":") };
    if (this.options.withoutCompiler) {
      delete environment.IREE_COMPILE;
      delete environment.VIRTUAL_ENV;
    }
    for (const name of Object.keys(environment)) {
      if (name.startsWith("VSCODE_") || name === "DISPLAY") {
        delete environment[name];
      }
    }
    return environment;
  }

  writeSettings(scope, settings) {
    const directory = join(this.options.home, "user", scope);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "settings.json"), JSON.stringify(settings, null, 2));
  }

  async install(vsix) {
    this.writeSettings("User", this.options.settings);
    // The browser is a client of a remote machine, and takes settings that name programs from that
    // machine only.
    this.writeSettings("Machine", this.options.machineSettings);
    const child = spawn(process.execPath, [this.entry, ...this.directories, "--install-extension", vsix], {
      env: this.environment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stdout.on("data", (data) => (output += data));
    child.stderr.on("data", (data) => (output += data));
    const code = await new Promise((resolve) => child.on("close", resolve));
    if (code !== 0 || !output.includes("successfully installed")) {
      throw new Error(`the extension was not installed:\n${output}`);
    }
  }

  async start() {
    const port = await freePort();
    const log = openSync(join(this.options.home, "code-server.log"), "w");
    this.server = spawn(
      process.execPath,
      [
        this.entry, "--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry",
        "--disable-update-check", ...(this.options.asksForTrust ? [] : ["--disable-workspace-trust"]),
        ...this.directories, this.options.workspace,
      ],
      { env: this.environment(), stdio: ["ignore", log, log] },
    );
    const address = `http://127.0.0.1:${port}`;
    await eventually("code-server to answer", () => fetch(`${address}/healthz`).then((r) => r.ok, () => false), Boolean);

    const { chromium } = createRequire(join(this.options.tools, "package.json"))("playwright-core");
    this.browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: [
        "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync",
      ],
    });
    const context = await this.browser.newContext({ viewport: { width: 1440, height: 1300 }, permissions: ["clipboard-read", "clipboard-write"] });
    const page = await context.newPage();
    page.setDefaultTimeout(LIMIT);
    await page.goto(`${address}/?folder=${encodeURIComponent(this.options.workspace)}`);
    await page.waitForSelector(".monaco-workbench");
    await page.waitForSelector(".explorer-folders-view .monaco-list-row");
    return new User(page, this.options.settings["workbench.colorTheme"]);
  }

  async stop() {
    await this.browser?.close();
    this.server?.kill();
  }
}

/** A user of the window: actions, and what the window shows. */
export class User {
  /** `theme` is the colour theme that the window has begun with. */
  constructor(page, theme) {
    this.page = page;
    this.theme = theme;
  }

  /** Chooses a colour theme by its name in VS Code's list. */
  async chooseTheme(label) {
    await this.command("Preferences: Color Theme");
    const input = this.page.locator(".quick-input-widget input.input").first();
    const rows = this.page.locator(".quick-input-widget .monaco-list-row");
    await input.fill(label);
    await rows.filter({ hasText: label }).first().waitFor();
    await this.press("Enter");
    await input.waitFor({ state: "hidden" });
  }

  /** Keeps what is seen now for an animation, if there is one, which shows it so long; in a window as people have it. */
  async frame(seconds) {
    if (this.frames === undefined) {
      return;
    }
    const size = this.page.viewportSize();
    await this.page.locator(".part.panel .codicon-panel-close").click({ timeout: 1_000 }).catch(() => undefined);
    await this.page.setViewportSize({ width: 1280, height: 840 });
    await this.page.mouse.move(30, 560);
    await this.page.waitForTimeout(1_500);
    this.frames.push({ png: await this.page.screenshot({ animations: "disabled" }), seconds });
    await this.page.setViewportSize(size);
  }

  screenshot(path, clip) {
    return this.page.screenshot({ path, animations: "disabled", ...(clip === undefined ? {} : { clip }) });
  }

  press(...keys) {
    return keys.reduce((before, key) => before.then(() => this.page.keyboard.press(key)), Promise.resolve());
  }

  /** Opens a file of the explorer as text. `title` is the title of the tab, if not the file's name. */
  async open(file, title = file) {
    await this.choose(file);
    await this.activeTab(title);
    await this.page.waitForSelector(".editor-instance .view-line");
  }

  /** Opens the disassembly of a module, by the tab of the module's page. */
  async openDisassembly(file) {
    await this.choose(file);
    await this.activeTab(file);
    const page = await this.webview("#tab-disassembly");
    await page.locator("#tab-disassembly").click();
    await this.activeTab(`${file}.vmasm`);
    await this.page.waitForSelector(".editor-instance .view-line");
  }

  /** Double-clicks a file of the explorer. */
  async choose(file) {
    await this.press("Control+Shift+E");
    await this.page.locator(".explorer-folders-view .monaco-list-row", { hasText: file }).first().dblclick();
  }

  /** Opens a file from the explorer until its web view is there; a busy VS Code loses clicks. */
  async chooseView(file, selector) {
    let view;
    const opened = async () => {
      await this.choose(file);
      view = await this.webview(selector, 10_000).catch(() => undefined);
      return view !== undefined;
    };
    await eventually(`the view of ${file}`, opened, Boolean);
    return view;
  }

  /** Types at the beginning of the open file and saves it. */
  async changeAndSave(text) {
    await this.press("Control+1", "Control+Home");
    await this.page.keyboard.type(text);
    const dirty = this.page.locator(".tab.active.dirty");
    await dirty.waitFor();
    await this.press("Control+S");
    await dirty.waitFor({ state: "detached" });
  }

  /** Trusts the workspace. */
  async trust() {
    await this.command("Workspaces: Manage Workspace Trust");
    await this.page.locator(".workspace-trust-editor .monaco-button", { hasText: /^Trust/ }).first().click();
    await this.page.locator('[id="status.workspaceTrust"]').waitFor({ state: "detached" });
  }

  activeTab(title, limit) {
    return eventually(
      `the tab ${title}`,
      () => this.page.locator(".tab.active .label-name").allInnerTexts(),
      (titles) => titles.some((text) => text.trim() === title),
      limit,
    );
  }

  async closeAllEditors() {
    await this.press("Control+K", "Control+W");
    await this.page.locator(".tab").first().waitFor({ state: "detached" });
  }

  async goToLine(line) {
    // A click outside the text may have opened the file. (A click into the text would wait until
    // nothing moves, and meanwhile scroll the text away.)
    await this.press("Control+1");
    const input = await this.#typed("Control+G", `:${line}`);
    await this.press("Enter");
    // The cursor may have been in that line before: until the box is gone, it takes what is typed next.
    await input.waitFor({ state: "hidden" });
    await eventually(`the cursor in line ${line}`, () => this.cursor(), (text) => text.startsWith(`Ln ${line},`));
  }

  /** The status bar's "Ln 3, Col 5". */
  async cursor() {
    const items = await this.page.locator('[id="status.editor.selection"]').allInnerTexts();
    return (items[0] ?? "").trim();
  }

  /** Sets a breakpoint in the cursor's line, or removes it, and waits for the red dot to follow. */
  async toggleBreakpoint() {
    const dots = this.page.locator(".editor-instance .codicon-debug-breakpoint");
    const before = await dots.count();
    await this.press("F9");
    await eventually("the breakpoint's dot", () => dots.count(), (count) => count !== before);
  }

  /** Opens the quick input by a key and types into it. A file that opens meanwhile takes the focus,
   * which closes the input: then a user presses the key again. */
  async #typed(key, text) {
    const input = this.page.locator(".quick-input-widget input.input").first();
    for (let left = 5; ; left -= 1) {
      await this.press(key);
      try {
        await input.fill(text, { timeout: LIMIT / 10 });
        return input;
      } catch (error) {
        if (left === 0) {
          throw error;
        }
      }
    }
  }

  /** Chooses a command by its title. */
  async command(title) {
    const box = this.page.locator(".quick-input-widget");
    const input = await this.#typed("F1", `>${title}`);
    await box.locator(".monaco-list-row", { hasText: title }).first().click();
    // The box goes, or asks for more: what is typed next is not for this list.
    const shown = async () => ((await input.isVisible()) ? input.inputValue().catch(() => "") : "");
    await eventually(`"${title}" chosen`, shown, (text) => text !== `>${title}`);
  }

  /** Sets a "Conditional Breakpoint" or a "Logpoint", which need a text, in the cursor's line. */
  async addBreakpoint(kind, text) {
    const dots = this.page.locator(
      ".editor-instance .codicon-debug-breakpoint-conditional, .editor-instance .codicon-debug-breakpoint-log",
    );
    const before = await dots.count();
    await this.command(`Debug: Add ${kind}...`);
    const widget = this.page.locator(".breakpoint-widget .inputContainer .monaco-editor").first();
    await widget.waitFor();
    await widget.click();
    await this.page.keyboard.type(text);
    await this.press("Enter");
    await eventually("the breakpoint's dot", () => dots.count(), (count) => count !== before);
  }

  async removeAllBreakpoints() {
    await this.command("Remove All Breakpoints");
    await this.page.locator(".editor-instance .codicon-debug-breakpoint").first().waitFor({ state: "detached" });
  }

  /** Adds an expression to the Watch view. */
  async watch(expression) {
    const header = this.page.locator(".pane-header", { hasText: /^Watch/i }).first();
    if ((await header.getAttribute("aria-expanded")) !== "true") {
      await header.click();
    }
    await header.hover();
    await this.page.locator(".pane-header .action-label.codicon-add, .pane-header .codicon-watch-expressions-add").first().click();
    const input = this.page.locator(".debug-watch input").first();
    await input.waitFor();
    await input.fill(expression);
    await this.press("Enter");
  }

  /** Waits until the Watch view shows an expression's value. */
  async watchIs(expression, value) {
    const rows = this.page.locator(".debug-watch .monaco-list-row .expression");
    await eventually(
      `${expression} to be ${value}`,
      async () => (await rows.allInnerTexts()).map((text) => text.replace(/\s+/g, " ").trim()),
      (seen) => seen.some((text) => text.startsWith(expression) && text.endsWith(String(value))),
    );
  }

  /** Changes the value of a variable in the Variables view. */
  async setValue(name, value) {
    const row = this.page.locator(".debug-variables .monaco-list-row .expression", {
      has: this.page.locator(".name", { hasText: new RegExp(`^${name}\\b`) }),
    });
    await row.first().dblclick();
    const input = this.page.locator(".debug-variables input").first();
    await input.waitFor();
    await input.fill(value);
    await this.press("Enter");
  }

  /** Makes the program stop when a variable in the Variables view changes. */
  async breakOnChange(name) {
    const row = this.page.locator(".debug-variables .monaco-list-row .expression", {
      has: this.page.locator(".name", { hasText: new RegExp(`^${name}\\b`) }),
    });
    await row.first().click({ button: "right" });
    // The menu takes no click while it opens, and takes one for the item under the pointer once it
    // is open.
    const item = this.page.locator(".monaco-menu .action-item", { hasText: "Break on Value Change" }).first();
    await item.waitFor();
    await eventually(
      "the menu's item to be chosen",
      async () => {
        await this.page.mouse.move(5, 5);
        await item.hover();
        return item.getAttribute("class");
      },
      (classes) => classes.includes("focused"),
    );
    await this.press("Enter");
    await this.page.locator(".debug-breakpoints .codicon-debug-breakpoint-data").first().waitFor();
  }

  /** Moves the pointer to where it shows no hover. */
  async pointAway() {
    await this.page.mouse.move(600, 1200);
    await this.page.locator(".workbench-hover:visible").waitFor({ state: "hidden" });
  }

  /** Chooses a lens by its title. */
  async lens(title) {
    const lens = this.page.locator(".codelens-decoration a", { hasText: title }).first();
    await lens.waitFor({ timeout: 30_000 });
    await lens.click();
  }

  /** Waits until the list of choices, its title included, has these texts. */
  async listHas(...expected) {
    const box = this.page.locator(".quick-input-widget");
    await eventually(
      `a list with ${expected.join(", ")}`,
      async () => ((await box.isVisible()) ? (await box.innerText()).replaceAll("\u00a0", " ") : ""),
      (seen) => expected.every((text) => seen.includes(text)),
    );
  }

  /** Chooses the first entry of the list of choices with this text. */
  async pick(text) {
    const box = this.page.locator(".quick-input-widget");
    await box.locator("input.input").first().fill(text);
    await box.locator(".monaco-list-row", { hasText: text }).first().click();
    await box.waitFor({ state: "hidden" });
  }

  /** Ticks entries of a list of choices, unless they are ticked, and takes them. */
  async pickMany(...texts) {
    const box = this.page.locator(".quick-input-widget");
    for (const text of texts) {
      const row = box.locator(".monaco-list-row", { has: this.page.locator(".label-name", { hasText: new RegExp(`^${text}$`) }) }).first();
      await row.waitFor();
      if ((await row.locator(".monaco-checkbox, .quick-input-list-checkbox").first().getAttribute("aria-checked")) !== "true") {
        await row.click();
      }
    }
    await this.press("Enter");
    await box.waitFor({ state: "hidden" });
  }

  /** The titles of the tabs in front, from left to right. */
  async frontTabs() {
    const titles = await this.page.locator(".editor-group-container .tab.active .label-name").allInnerTexts();
    return titles.map((title) => title.trim());
  }

  /** Waits until tabs with these titles are in front. */
  frontTabsAre(...titles) {
    const wish = JSON.stringify(titles);
    return eventually(`the tabs ${wish}`, () => this.frontTabs(), (seen) => JSON.stringify(seen) === wish);
  }

  /** The marked lines of a source and its stages, by the names of the visible documents. */
  linkedLines() {
    return this.page.evaluate(() => {
      const found = {};
      for (const editor of document.querySelectorAll(".editor-instance .monaco-editor[data-uri]")) {
        const path = decodeURIComponent(editor.getAttribute("data-uri").replace(/[?#].*/, ""));
        const isSeen = (mark) => getComputedStyle(mark).backgroundColor !== "rgba(0, 0, 0, 0)";
        const marks = [...editor.querySelectorAll(".view-overlays .cdr[class*='ced-']")].filter(isSeen);
        const tops = new Set(marks.map((mark) => mark.parentElement.style.top));
        const lines = [...editor.querySelectorAll(".view-line")].filter((line) => tops.has(line.style.top));
        found[path.slice(path.lastIndexOf("/") + 1)] = lines.map((line) => line.textContent.replace(/\u00a0/g, " ").trim());
      }
      return found;
    });
  }

  /** Waits until in each of these documents a line with the text is marked, and in those with `null` none. */
  async linkedAre(expected) {
    const fits = (seen, name, text) =>
      text === null ? seen[name]?.length === 0 : seen[name]?.some((line) => line.includes(text)) === true;
    await eventually(
      `the marked lines ${JSON.stringify(expected)}`,
      () => this.linkedLines(),
      (seen) => Object.entries(expected).every(([name, text]) => fits(seen, name, text)),
    );
  }

  /** Clicks a line with a text in the visible document of this name. */
  async clickLine(name, text) {
    const editor = this.page.locator(`.editor-instance .monaco-editor[data-uri*="${name}"]`).first();
    await editor.locator(".view-line", { hasText: text }).first().click({ position: { x: 40, y: 8 } });
  }

  /** Waits for a text in the status item of stages. */
  async stageStatusHas(text) {
    const item = this.page.locator('[id$="iree-dbg.stages"]');
    await eventually(`"${text}" in the status bar`, () => item.allInnerTexts(), (seen) => seen.some((it) => it.replace(/\s+/g, " ").includes(text)));
  }

  /** Waits for a text in the visible part of an editor. */
  async editorHas(text) {
    const lines = this.page.locator(".editor-instance .view-line");
    await eventually(
      `"${text}" in the editor`,
      async () => (await lines.allInnerTexts()).join("\n").replaceAll("\u00a0", " "),
      (seen) => seen.includes(text),
    );
  }

  /** Chooses an entry of the open context menu. For a moment after it opened, it takes no clicks. */
  async pickInMenu(text) {
    const entry = this.page.locator(".monaco-menu .action-item", { hasText: text }).first();
    await entry.waitFor();
    await eventually(
      `the menu to take ${text}`,
      async () => {
        await entry.click({ timeout: 2_000 }).catch(() => undefined);
        return entry.isVisible();
      },
      (isOpen) => !isOpen,
    );
  }

  /** Answers an input box and returns its title and prompt. */
  async answer(title, text) {
    const box = this.page.locator(".quick-input-widget");
    await eventually(
      `the question "${title}"`,
      async () => ((await box.isVisible()) ? (await box.innerText()).replace(/\s+/g, " ") : ""),
      (seen) => seen.includes(title),
    );
    const input = box.locator("input.input").first();
    await input.fill(text);
    await this.press("Enter");
  }

  /** Types a path into the dialog for a file, once that shows where it begins. */
  async answerPath(path) {
    const box = await this.typePath(path);
    await this.press("Enter");
    await box.waitFor({ state: "hidden" });
  }

  /** The same for a folder, whose dialog has a button that takes it. */
  async answerFolder(path, button) {
    const box = await this.typePath(`${path}/`);
    await box.locator(".monaco-button", { hasText: button }).click();
    await box.waitFor({ state: "hidden" });
  }

  async typePath(path) {
    const box = this.page.locator(".quick-input-widget");
    const input = box.locator("input.input").first();
    await eventually("the dialog for a file", async () => ((await box.isVisible()) ? input.inputValue() : ""), (text) => text.includes("/"));
    await eventually(
      "the dialog to take the path",
      async () => {
        await input.fill(path);
        await this.page.waitForTimeout(500);
        return input.inputValue();
      },
      (text) => text === path,
    );
    return box;
  }

  /** The page of a web view that has an element, once it is there. */
  async webview(selector, limit) {
    let found;
    await eventually(
      `a web view with ${selector}`,
      async () => {
        for (const frame of this.page.frames().slice(1)) {
          if ((await frame.locator(selector).count().catch(() => 0)) > 0) {
            found = frame;
            return true;
          }
        }
        return false;
      },
      Boolean,
      limit,
    );
    return found;
  }

  /** Opens the view of a tensor with the button of its row in the Variables view. */
  async openTensor(name) {
    const row = this.page.locator(".debug-variables .monaco-list-row", {
      has: this.page.locator(".expression .name", { hasText: new RegExp(`^${name}\\b`) }),
    }).first();
    await row.hover();
    await row.locator(".action-label[aria-label^='View Tensor']").click();
    await this.page.locator(".tab", { hasText: name }).first().waitFor();
  }

  async closeTensor(name) {
    const tab = this.page.locator(".tab", { hasText: name }).first();
    await tab.click();
    await tab.locator(".codicon-close").click();
    await tab.waitFor({ state: "detached" });
  }

  /** Fills the form for the arguments of a function, by their names, and submits it. */
  async giveArguments(callee, values) {
    const form = await this.argumentForm(callee);
    for (const [name, text] of Object.entries(values)) {
      await form.getByRole("textbox", { name }).fill(text);
    }
    await form.locator("button.primary").click();
    await form.locator("form").waitFor({ state: "detached" }).catch(() => undefined);
  }

  /** The form for the arguments of a function. */
  async argumentForm(callee, limit) {
    const form = await this.webview("form h1", limit);
    await eventually(
      `the form of ${callee}`,
      () => form.locator("h1").first().innerText(),
      (text) => text.includes(callee) || text === "",
    );
    return form;
  }

  /** Chooses the text that the program is shown in, with the button of the debug toolbar. */
  async chooseLevel(name) {
    await this.page.locator(".debug-toolbar .action-label[aria-label^='Choose Level']").click();
    const rows = this.page.locator(".quick-input-widget .monaco-list-row");
    await rows.filter({ hasText: name }).first().click();
  }

  /** Waits until the program is stopped in a line of the visible editor with this text. */
  stoppedIn(text) {
    const line = () =>
      this.page.evaluate(() => {
        for (const editor of document.querySelectorAll(".editor-instance .monaco-editor")) {
          const top = editor.querySelector(".view-overlays .debug-top-stack-frame-line")?.parentElement?.style.top;
          const lines = [...editor.querySelectorAll(".view-line")];
          const here = lines.find((row) => top !== undefined && row.style.top === top);
          if (here !== undefined) {
            return here.textContent.replace(/\u00a0/g, " ");
          }
        }
        return null;
      });
    return eventually(`the program to stop in a line with ${text}`, line, (seen) => seen?.includes(text) === true);
  }

  /** Waits until the program is stopped in `line` of the visible editor. */
  stoppedAt(line) {
    return eventually(`the program to stop in line ${line}`, () => this.stoppedLine(), (seen) => seen === line);
  }

  /** The line with the yellow band, read from the number in the margin beside it. */
  stoppedLine() {
    return this.page.evaluate(() => {
      for (const editor of document.querySelectorAll(".editor-instance .monaco-editor")) {
        const band = editor.querySelector(".view-overlays .debug-top-stack-frame-line");
        const top = band?.parentElement?.style.top;
        for (const row of editor.querySelectorAll(".margin-view-overlays > div")) {
          const number = row.querySelector(".line-numbers");
          if (top !== undefined && row.style.top === top && number) {
            return Number(number.textContent);
          }
        }
      }
      return null;
    });
  }

  /** The Call Stack view's frames: name, and the file and line that it shows. */
  async callStack() {
    const rows = await this.page.locator(".debug-call-stack .monaco-list-row .stack-frame").all();
    const read = (row, part) => row.locator(part).first().innerText({ timeout: 1_000 });
    const frames = rows.map(async (row) => {
      const [name, file, line] = await Promise.all([read(row, ".label"), read(row, ".file-name"), read(row, ".line-number")]);
      return `${name.trim()} ${file.trim()}:${line.split(":")[0]}`;
    });
    return Promise.all(frames).catch(() => []); // A step redraws the view; the next look sees it whole.
  }

  /** Waits until the call stack shows these frames, each "function file:line", innermost first. */
  async callStackIs(...expected) {
    const wish = JSON.stringify(expected);
    await eventually(`the call stack ${wish}`, () => this.callStack(), (seen) => JSON.stringify(seen) === wish);
  }

  /** Waits until the call stack shows frames of these names, innermost first. */
  async callStackNames(...expected) {
    const labels = this.page.locator(".debug-call-stack .monaco-list-row .stack-frame .label");
    const wish = JSON.stringify(expected);
    const names = async () => (await labels.allInnerTexts()).map((name) => name.trim());
    await eventually(`the call stack ${wish}`, names, (seen) => JSON.stringify(seen) === wish);
  }

  /** Unfolds a scope of the Variables view. */
  async expandScope(name) {
    const row = this.page.locator(".debug-variables .monaco-list-row", {
      has: this.page.locator(".scope", { hasText: name }),
    });
    await row.waitFor();
    if ((await row.getAttribute("aria-expanded")) !== "true") {
      await row.click();
      await eventually(`the scope ${name} to open`, () => row.getAttribute("aria-expanded"), (open) => open === "true");
    }
  }

  /** Name and value of every visible variable in the Variables view. */
  async variables() {
    const rows = await this.page.locator(".debug-variables .monaco-list-row .expression:has(.value)").all();
    const read = (row, part) => row.locator(part).first().innerText({ timeout: 1_000 });
    const texts = await Promise.all(rows.map((row) => Promise.all([read(row, ".name"), read(row, ".value")]))).catch(
      () => [], // A step redraws the view; the next look sees it whole.
    );
    return Object.fromEntries(texts.map(([name, value]) => [name.replace(/[ =:]+$/, "").trim(), value.trim()]));
  }

  /** Waits until each of these variables has its value. */
  async variablesAre(expected) {
    await eventually(
      `the variables ${JSON.stringify(expected)}`,
      () => this.variables(),
      (seen) => Object.entries(expected).every(([name, value]) => seen[name] === String(value)),
    );
  }

  /** Points at a word in the visible editor. Returns the hover's text once it contains `expected`. */
  async hover(word, expected) {
    const token = this.page.locator(".editor-instance .view-line span span", { hasText: word }).first();
    const hover = this.page.locator(".monaco-hover:not(.hidden) .hover-contents");
    return eventually(
      `a hover over ${word} with "${expected}"`,
      async () => {
        await this.page.mouse.move(5, 5);
        await token.hover();
        await hover.first().waitFor({ timeout: 2_000 }).catch(() => undefined);
        return (await hover.allInnerTexts()).join("\n").replaceAll("\u00a0", " ");
      },
      (text) => text.includes(expected),
    );
  }

  /** Points at a word in the stopped line and waits until the debugger's hover shows `expected`. */
  async valueUnderPointer(word, expected) {
    const hover = this.page.locator(".debug-hover-widget");
    const band = this.page.locator(".view-overlays .debug-top-stack-frame-line").first();
    const top = await band.evaluate((element) => element.parentElement.style.top);
    const line = this.page.locator(`.editor-instance .view-line[style*="top:${top};"]`);
    const token = line.locator("span span", { hasText: word }).first();
    await eventually(
      `the value of ${word}`,
      async () => {
        await this.page.mouse.move(5, 5);
        await token.hover();
        await hover.waitFor({ timeout: 2_000 }).catch(() => undefined);
        return (await hover.allInnerTexts()).join("\n");
      },
      (text) => text.trim() === expected,
    );
  }

  /** Types a line into the Debug Console. It has the keys some time after the command that gives them to it; earlier ones go elsewhere. */
  async enterInConsole(line) {
    const input = this.page.locator(".repl-input-wrapper");
    const type = async () => {
      await this.command("Debug Console: Focus on Debug Console View");
      await input.locator(":focus").waitFor();
      await this.press("Control+A");
      await this.page.keyboard.type(line);
      return (await input.locator(".view-line").allInnerTexts()).join("\n").replaceAll("\u00a0", " ");
    };
    await eventually(`the line ${line} in the console`, type, (text) => text === line);
    await this.press("Enter");
  }

  async debugConsoleHas(text) {
    await eventually(
      `"${text}" in the Debug Console`,
      () => this.page.locator(".repl .monaco-list-row").allInnerTexts(),
      (lines) => lines.join("\n").replaceAll("\u00a0", " ").includes(text),
    );
  }

  /** Waits for a text in an editor that is a web page of its own. */
  async webviewHas(text) {
    await eventually(
      `"${text}" in the editor`,
      async () => {
        const bodies = this.page.frames().map((frame) => frame.locator("body").innerText({ timeout: 500 }).catch(() => ""));
        return (await Promise.all(bodies.slice(1))).join("\n");
      },
      (seen) => seen.includes(text),
    );
  }

  async debuggingEnds() {
    await this.page.locator(".debug-toolbar").waitFor({ state: "hidden" });
  }

  /** Opens a step of the walkthrough and clicks one of its buttons. */
  async walkthroughButton(step, button) {
    const item = this.page.locator(".getting-started-step", { has: this.page.locator(".step-title", { hasText: step }) }).first();
    await item.waitFor();
    if (!(await item.getAttribute("class")).includes("expanded")) {
      await item.locator(".step-title").first().click();
    }
    await item.locator(".monaco-button", { hasText: button }).first().click();
  }

  /** Waits for a text in this extension's item of the status bar. */
  async statusHas(text) {
    const item = this.page.locator('[id$="iree-dbg.status"]');
    await eventually(`"${text}" in the status bar`, () => item.allInnerTexts(), (seen) => seen.some((it) => it.replace(/\s+/g, " ").includes(text)));
  }

  /** Moves the edge of the side bar. */
  async narrowSideBar(width) {
    const bar = await this.page.locator(".part.sidebar").boundingBox();
    const [from, y] = [bar.x + bar.width, bar.y + 400];
    await this.page.mouse.move(from, y);
    await this.page.mouse.down();
    await this.page.mouse.move(bar.x + width, y, { steps: 5 });
    await this.page.mouse.up();
    await this.page.mouse.move(bar.x + width + 300, y);
  }

  /** Waits for a message in the corner, and returns it. */
  async notification(text) {
    const message = this.page.locator(".notification-list-item", { hasText: text }).first();
    await message.waitFor();
    return message;
  }

  /** Clicks a button of a message in the corner. */
  async answerNotification(text, button) {
    const message = await this.notification(text);
    await message.locator(".monaco-button", { hasText: button }).first().click();
  }

  /** Closes all messages in the corner. */
  async clearNotifications() {
    // One may come after the command.
    const isClear = async () => {
      await this.command("Notifications: Clear All Notifications");
      const first = this.page.locator(".notification-list-item").first();
      return first.waitFor({ state: "detached", timeout: 3_000 }).then(() => true, () => false);
    };
    await eventually("a corner without notifications", isClear, Boolean);
  }

  /** The problems that the Problems view lists, one line each. */
  async problemsHave(text) {
    await this.press("Control+Shift+M");
    await eventually(
      `the problem "${text}"`,
      () => this.page.locator(".markers-panel .monaco-list-row").allInnerTexts(),
      (rows) => rows.some((row) => row.replaceAll("\u00a0", " ").includes(text)),
    );
  }

  /** Texts of the messages in the corner, which explain a failed step better than its screenshot. */
  async notifications() {
    return this.page.locator(".notification-list-item-message, .monaco-dialog-box .dialog-message").allInnerTexts();
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
