// A web page that a user visits while `iree-dbg dap --listen` runs, here even without a token:
// nothing that the page's script can send to the port starts a program. The same bytes from a
// program that speaks the protocol do.

import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { eventually } from "./workbench.mjs";

const framed = (message) => {
  const body = JSON.stringify({ type: "request", ...message });
  return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
};

/**
 * @param {{program: string, tools: string, folder: string}} options
 * @param {(title: string, act: () => Promise<void>) => Promise<void>} step runs a step and counts it
 */
export async function playDoor({ program, tools, folder }, step) {
  mkdirSync(folder, { recursive: true });
  const marker = join(folder, "started");
  const compiler = join(folder, "iree-compile");
  writeFileSync(compiler, `#!/bin/sh\ntouch ${marker}\n`);
  chmodSync(compiler, 0o755);
  writeFileSync(join(folder, "x.mlir"), "module {}\n");
  const launch = { program: join(folder, "x.mlir"), ireeCompile: compiler };
  const conversation =
    framed({ seq: 1, command: "initialize", arguments: { adapterID: "iree" } }) +
    framed({ seq: 2, command: "launch", arguments: launch });

  const adapter = spawn(program, ["dap", "--listen=127.0.0.1:0", "--no-token"], { stdio: ["ignore", "ignore", "pipe"] });
  const lines = createInterface({ input: adapter.stderr });
  const refusals = [];
  const port = await new Promise((resolve) => {
    lines.on("line", (line) => {
      const listening = /^listening on 127\.0\.0\.1:(\d+)$/.exec(line);
      if (listening) {
        resolve(Number(listening[1]));
      } else if (line.startsWith("refused a connection")) {
        refusals.push(line);
      }
    });
  });
  const page = createServer((_request, response) => {
    response.setHeader("Content-Type", "text/html");
    response.end(`<script>
      const target = "127.0.0.1:${port}";
      const body = ${JSON.stringify(conversation)};
      const tries = [
        () => fetch("http://" + target, { method: "POST", mode: "no-cors", headers: { "Content-Type": "text/plain" }, body }),
        () => fetch("http://" + target, { method: "POST", mode: "no-cors", body: "\\r\\n\\r\\n" + body }),
        () => fetch("http://" + target + "/" + encodeURIComponent(body), { mode: "no-cors" }),
        () => new Promise((_, refuse) => { new WebSocket("ws://" + target).onerror = refuse; }),
        () => new Promise((_, refuse) => { const image = new Image(); image.onerror = refuse; image.src = "http://" + target; }),
        () => navigator.sendBeacon("http://" + target, body),
      ];
      window.done = Promise.allSettled(tries.map((attempt) => attempt())).then((all) => all.length);
    </script>`);
  });
  await new Promise((resolve) => page.listen(0, "127.0.0.1", resolve));
  const { chromium } = createRequire(join(tools, "package.json"))("playwright-core");
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
  });
  try {
    await step("a web page starts nothing at the adapter's port", async () => {
      const tab = await (await browser.newContext()).newPage();
      await tab.goto(`http://127.0.0.1:${page.address().port}/`);
      await tab.evaluate(() => window.done);
      await eventually("the page's connections to be refused", () => refusals.length, (count) => count >= 5);
      if (existsSync(marker)) {
        throw new Error("a web page has started a program");
      }
    });
    await step("a client that speaks the protocol does", async () => {
      rmSync(marker, { force: true });
      const client = connect(port, "127.0.0.1");
      client.write(conversation);
      await eventually("the program to start", () => existsSync(marker), Boolean);
      client.destroy();
    });
  } finally {
    await browser.close();
    page.close();
    adapter.kill();
  }
}
