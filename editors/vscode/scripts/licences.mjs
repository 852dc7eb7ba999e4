// The licences of the packages of others that are in the bundle, with their texts.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const RULE = `${"=".repeat(80)}\n`;

/** The licences of the packages that have one of these files; each package must bring its text. */
export function licencesOf(inputs, here) {
  const folders = new Set(inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []));
  const packages = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(here, folder, "package.json"), "utf8"));
    const texts = readdirSync(join(here, folder)).filter((file) => /^(un)?licen[cs]e|^notice/i.test(file));
    if (texts.length === 0) {
      throw new Error(`no text of a licence comes with ${name}`);
    }
    return { title: `${name} ${version}: ${license}`, text: texts.map((file) => readFileSync(join(here, folder, file), "utf8").trim()).join("\n\n") };
  });
  const list = packages.map(({ title }) => `${title}\n`).join("");
  return `The extension has these packages of others:\n\n${list}${packages.map(({ title, text }) => `\n${RULE}${title}\n${RULE}\n${text}\n`).join("")}`;
}
