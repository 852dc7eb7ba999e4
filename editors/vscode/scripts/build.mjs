// Bundles the extension into dist/extension.js and each web view into dist/views/, and with --tests the unit tests into
// dist/test/.
// esbuild only strips types; `npm run check` (tsc) checks them.
import { readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const common = {
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  external: ["vscode"],
  logLevel: "warning",
};

if (process.argv.includes("--tests")) {
  await build({
    ...common,
    entryPoints: readdirSync("test").filter((name) => name.endsWith(".test.ts")).map((name) => `test/${name}`),
    // The test libraries have WebAssembly files beside their code, so they are not bundled.
    external: ["vscode", "vscode-textmate", "vscode-oniguruma"],
    outdir: "dist/test",
    sourcemap: "inline",
  });
} else {
  const built = await build({
    ...common,
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    minify: true,
    metafile: true,
  });
  const views = await build({
    bundle: true,
    platform: "browser",
    // That of the oldest VS Code that the manifest names.
    target: "chrome132",
    format: "esm",
    // The script and the style of each page.
    entryPoints: ["arguments", "module", "tensor"].flatMap((name) =>
      ["ts", "css"].map((kind) => ({ in: `views/${name}/page.${kind}`, out: name }))),
    outdir: "dist/views",
    minify: true,
    metafile: true,
    logLevel: "warning",
  });
  // What of others is in the bundles, for their licences.
  const inputs = [built, views].flatMap(({ metafile }) => Object.keys(metafile.inputs));
  writeFileSync("dist/inputs.json", JSON.stringify(inputs));
}
