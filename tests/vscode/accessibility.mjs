// Whether a page can be used by everyone: what axe-core finds in it, in each kind of theme, and whether the keys reach all that
// a pointer does.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { eventually } from "./workbench.mjs";

/** The themes by their names in VS Code's list, each with what it calls its kind in a page's `body`. */
const THEMES = [
  ["Dark Modern", "vscode-dark"],
  ["Light Modern", "vscode-light"],
  ["Dark High Contrast", "vscode-high-contrast"],
  ["Light High Contrast", "vscode-high-contrast-light"],
];

/** The program that judges pages (MPL-2.0). The extension has it for its tests only: no package has it. */
const axe = () => {
  const { resolve } = createRequire(new URL("../../editors/vscode/package.json", import.meta.url));
  return readFileSync(resolve("axe-core/axe.min.js"), "utf8");
};

/** Fails with what axe-core finds in the page of a web view, in all themes. `picture` has a name for each theme's picture. */
export async function isAccessible(user, view, picture) {
  const found = [];
  for (const [theme, kind] of THEMES) {
    await wear(user, view, theme, kind);
    if (picture !== undefined) {
      await user.screenshot(picture(kind));
    }
    found.push(...(await findings(view)).map((it) => `${theme}: ${it}`));
  }
  const own = THEMES.find(([theme]) => user.theme.endsWith(theme)) ?? THEMES[0];
  await wear(user, view, ...own);
  if (found.length > 0) {
    throw new Error(`axe-core finds:\n        ${found.join("\n        ")}`);
  }
}

/** Lets the window have a theme, until the page has it. */
async function wear(user, view, theme, kind) {
  await user.chooseTheme(theme);
  const kinds = () => view.evaluate(() => [...document.body.classList]);
  const isLight = kind === "vscode-high-contrast-light";
  // The class of high contrast in light comes with that of high contrast.
  await eventually(`the page in ${theme}`, kinds, (names) => names.includes(kind) && names.includes("vscode-high-contrast-light") === isLight);
  // The page's colours come a moment after its class.
  await user.page.waitForTimeout(300);
}

async function findings(view) {
  // A page of a web view takes no scripts, but the debugger's.
  await view.evaluate(axe());
  const { violations } = await view.evaluate(() => window.axe.run(document));
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, any }) => `${id} (${help}): ${html.slice(0, 160)} ${any[0]?.message ?? ""}`));
}

/** Walks through a page by Tab: each control is reached, in the order of the page, and is seen to have the focus. */
export async function keysReachAll(user, view) {
  const expected = await view.evaluate(() => {
    const all = [...document.querySelectorAll("button, input, select, [tabindex='0']")].filter(
      (element) => element.tabIndex >= 0 && element.checkVisibility({ visibilityProperty: true }) && !element.disabled,
    );
    all.forEach((element, index) => (element.dataset.walk = String(index)));
    all[0].focus();
    return all.length;
  });
  const walked = [];
  for (let step = 0; step < expected; step++) {
    const at = await view.evaluate(() => {
      const element = document.activeElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      const isSeen = outlineStyle !== "none" && parseFloat(outlineWidth) > 0;
      return { place: element.dataset.walk, isSeen, what: element.outerHTML.slice(0, 100) };
    });
    if (at.place !== String(step)) {
      throw new Error(`Tab leads to ${at.what}, which is control ${at.place}, and not to control ${step}; before: ${walked.at(-1)}`);
    }
    // The first was not reached by a key.
    if (step > 0 && !at.isSeen) {
      throw new Error(`the focus on ${at.what} is not seen`);
    }
    walked.push(at.what);
    await user.press("Tab");
  }
  const left = await view.evaluate(() => document.activeElement.dataset?.walk ?? "none");
  if (left === String(expected - 1)) {
    throw new Error(`Tab does not leave ${walked.at(-1)}`);
  }
  return walked.length;
}
