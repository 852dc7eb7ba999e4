// Another person's folder, whose settings start a program when a file is saved. The program must
// not run until the user trusts the folder.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./workbench.mjs";

/**
 * Makes the folder.
 * @param {string} folder
 * @returns {{title: string, act: (user: import("./workbench.mjs").User) => Promise<void>}[]}
 */
export function trustScenario(folder) {
  const marker = join(folder, "started");
  mkdirSync(join(folder, ".vscode"), { recursive: true });
  const touch = ["/bin/sh", "-c", `touch ${marker}`];
  const settings = { "iree-dbg.checkOnSave": true, "iree-dbg.checkCommand": touch, "iree-dbg.path": "/bin/false" };
  writeFileSync(join(folder, ".vscode/settings.json"), JSON.stringify(settings));
  writeFileSync(join(folder, "gift.mlir"), "func.func @gift(%a: i32) -> i32 {\n  return %a : i32\n}\n");
  return [
    {
      title: "a folder that is not trusted has language features",
      async act(user) {
        await user.open("gift.mlir");
        await user.hover("@gift", "@gift(%a: i32) -> i32");
      },
    },
    {
      title: "a save starts no program of its choice",
      async act(user) {
        await user.changeAndSave("// looked at\n");
        // An answer to a later message shows that the server has handled the save.
        await user.hover("@gift", "@gift(%a: i32) -> i32");
        if (existsSync(marker)) {
          throw new Error("the folder's program was started");
        }
      },
    },
    {
      title: "once it is trusted, its settings count",
      async act(user) {
        writeFileSync(
          join(folder, ".vscode/settings.json"),
          JSON.stringify({ "iree-dbg.checkOnSave": true, "iree-dbg.checkCommand": touch }),
        );
        await user.trust();
        await user.open("gift.mlir");
        await user.changeAndSave("// trusted\n");
        await eventually("the folder's program to run", () => existsSync(marker), Boolean);
      },
    },
  ];
}
