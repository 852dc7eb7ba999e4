// Bundles the extension into dist/extension.js, and with --tests the unit tests into dist/test/.
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
  // What of others is in the bundle, for their licences.
  writeFileSync("dist/inputs.json", JSON.stringify(Object.keys(built.metafile.inputs)));
}
