// Makes iree-dbg.vsix. `IREE_DBG=path/to/iree-dbg npm run package` includes that program, so that the package is for this
// platform only. Without it, users set `iree-dbg.path` or have iree-dbg on their PATH.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";

const program = process.env.IREE_DBG;
const bundled = process.platform === "win32" ? "bin/iree-dbg.exe" : "bin/iree-dbg";
const flags = ["package", "--no-dependencies", "--allow-missing-repository", "--no-rewrite-relative-links", "--out", "iree-dbg.vsix"];

rmSync("bin", { recursive: true, force: true });
if (program) {
  mkdirSync("bin");
  copyFileSync(program, bundled);
  chmodSync(bundled, 0o755);
  flags.push("--target", `${process.platform}-${process.arch}`);
}

// vsce needs a copy of the repository's licence in the package.
if (existsSync("../../LICENSE")) {
  copyFileSync("../../LICENSE", "LICENSE");
} else {
  flags.push("--skip-license");
}

execFileSync(process.execPath, ["scripts/build.mjs"], { stdio: "inherit" });
execFileSync("node_modules/.bin/vsce", flags, { stdio: "inherit", shell: process.platform === "win32" });
