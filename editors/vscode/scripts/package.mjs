// Makes the packages that users install, one for each iree-dbg that is given:
//
//   npm run package -- PROGRAM...        iree-dbg-linux-x64.vsix and so on, each with its program inside
//   npm run package                      iree-dbg.vsix without a program: users set `iree-dbg.path`
//
//   --out FOLDER                         where to; by default this folder
//   --licences FILE                      those of all that is linked into the programs; by default they are asked of cargo
//   --repository URL                     the gallery's links; by default those of the checkout's remote, if it has one
//
// The platform of a package is read from the head of its program. The last lines of the output are the packages' names.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { licencesOf } from "./licences.mjs";
import { platformsOf } from "./platforms.mjs";
import { checkSamples, SOURCES } from "./samples.mjs";

const here = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const { values, positionals: programs } = parseArgs({
  allowPositionals: true,
  options: { out: { type: "string", default: here }, licences: { type: "string" }, repository: { type: "string" } },
});
const out = resolve(values.out);
const PARTS = [
  "dist/extension.js", "dist/views", "icons", "images", "language", "samples", "syntaxes", "README.md", "CHANGELOG.md",
  "package.json",
];
const licence = [join(here, "LICENSE"), join(here, "../../LICENSE")].find(existsSync);

checkSamples();
execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: here, stdio: "inherit" });
mkdirSync(out, { recursive: true });
const licences = thirdPartyLicences();
const packages = programs.length === 0
  ? [pack(undefined, undefined)]
  : programs.flatMap((program) => platformsOf(program).map((platform) => pack(program, platform)));
console.log(packages.join("\n"));

/** Makes the package of a platform from a folder that has exactly what is in it. */
function pack(program, platform) {
  const folder = join(here, "dist/package");
  rmSync(folder, { recursive: true, force: true });
  for (const part of PARTS) {
    cpSync(join(here, part), join(folder, part), { recursive: true });
  }
  for (const sample of SOURCES) {
    copyFileSync(sample, join(folder, "samples", basename(sample)));
  }
  if (licence !== undefined) {
    copyFileSync(licence, join(folder, "LICENSE"));
  }
  writeFileSync(join(folder, "THIRD-PARTY-LICENSES.txt"), licences);
  if (program !== undefined) {
    const inside = join(folder, "bin", platform.startsWith("win32") ? "iree-dbg.exe" : "iree-dbg");
    mkdirSync(dirname(inside), { recursive: true });
    copyFileSync(program, inside);
    chmodSync(inside, 0o755);
  }
  const repository = repositoryOf();
  const manifest = { ...JSON.parse(readFileSync(join(folder, "package.json"), "utf8")), ...linksTo(repository), files: ["**"] };
  delete manifest.scripts;
  delete manifest.devDependencies;
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest, null, 2));

  const target = join(out, platform === undefined ? "iree-dbg.vsix" : `iree-dbg-${platform}.vsix`);
  const flags = ["package", "--no-dependencies", "--out", target];
  flags.push(...(platform === undefined ? [] : ["--target", platform]));
  flags.push(...(licence === undefined ? ["--skip-license"] : []));
  // The README's links to other pages of the repository need an address.
  flags.push(...(repository === undefined
    ? ["--allow-missing-repository", "--no-rewrite-relative-links"]
    : ["--baseContentUrl", `${repository}/blob/HEAD/editors/vscode`, "--baseImagesUrl", `${repository}/raw/HEAD/editors/vscode`]));
  const vsce = join(here, "node_modules/.bin/vsce");
  execFileSync(vsce, flags, { cwd: folder, stdio: ["ignore", "inherit", "inherit"], shell: process.platform === "win32" });
  return target;
}

/** The licences of all that others have made of it. */
function thirdPartyLicences() {
  const own = licencesOf(JSON.parse(readFileSync(join(here, "dist/inputs.json"), "utf8")), here);
  if (programs.length === 0) {
    return own;
  }
  const file = values.licences ?? join(here, "dist/THIRD-PARTY-LICENSES");
  if (values.licences === undefined) {
    const python = process.platform === "win32" ? "python" : "python3";
    execFileSync(python, [join(here, "../../runtime/python/build_backend/third_party.py"), file], { stdio: "inherit" });
  }
  return `${readFileSync(file, "utf8")}\n${own}`;
}

/** The page of the repository on the web. */
function repositoryOf() {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env;
  const found = values.repository ?? (server && name ? `${server}/${name}` : remote());
  const page = found?.trim().replace(/^git@([^:]+):/, "https://$1/").replace(/(\.git)?\/?$/, "");
  return page?.startsWith("https://") ? page : undefined;
}

function remote() {
  try {
    return execFileSync("git", ["remote", "get-url", "origin"], { cwd: here, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return undefined;
  }
}

/** The gallery's links. */
function linksTo(repository) {
  return repository === undefined ? {} : {
    repository: { type: "git", url: `${repository}.git`, directory: "editors/vscode" },
    homepage: `${repository}/tree/HEAD/editors/vscode#readme`,
    bugs: { url: `${repository}/issues` },
    qna: `${repository}/discussions`,
  };
}
