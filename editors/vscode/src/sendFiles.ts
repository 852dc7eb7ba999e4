// The files of a launch that is sent to someone else: what is copied, under which names, and how the launch names them then.

import { isAbsolute, parse, resolve } from "node:path";

export interface Launch {
  /** What runs. */
  readonly program: string;
  /** What the user has named: the source of the program, or the same. */
  readonly source: string;
  readonly inputs?: unknown;
  readonly parameters?: unknown;
  readonly modules?: unknown;
  readonly cwd: string | undefined;
}

interface Copy {
  readonly from: string;
  readonly to: string;
  /** Whether it may be missing. */
  readonly isOptional: boolean;
}

/** Names in a folder, each used once. */
export class Names {
  private readonly used = new Set<string>();

  of(path: string): string {
    const { name, ext } = parse(path);
    for (let number = 1; ; number++) {
      const wanted = number === 1 ? `${name}${ext}` : `${name}-${number}${ext}`;
      if (!this.used.has(wanted)) {
        this.used.add(wanted);
        return wanted;
      }
    }
  }
}

export function filesOf(launch: Launch, names: Names): { readonly copies: readonly Copy[]; readonly launch: Readonly<Record<string, unknown>> } {
  const copies: Copy[] = [];
  const add = (path: string, isOptional = false): string => {
    const from = isAbsolute(path) || launch.cwd === undefined ? path : resolve(launch.cwd, path);
    const to = names.of(path);
    copies.push({ from, to, isOptional });
    return to;
  };
  const module = (path: string): string => {
    const to = add(path);
    copies.push({ from: `${copies.at(-1)?.from}.debug`, to: `${to}.debug`, isOptional: true });
    return `\${workspaceFolder}/${to}`;
  };
  const program = module(launch.program);
  if (launch.source !== launch.program) {
    add(launch.source, true);
  }
  // `@x.npy`, `4xf32=@x.bin`; `model=weights.irpa`
  const inputs = texts(launch.inputs).map((text) => text.replace(/^((?:[^=@]*=)?@)(.+)$/s, (_, head: string, path: string) => head + add(path)));
  const parameters = texts(launch.parameters).map((text) => {
    const [, scope = "", path = ""] = /^([\w-]+=)?(.*)$/s.exec(text) ?? [];
    return scope + add(path);
  });
  const modules = texts(launch.modules).map(module);
  return {
    copies,
    launch: {
      program,
      ...(inputs.length > 0 && { inputs }),
      ...(parameters.length > 0 && { parameters }),
      ...(modules.length > 0 && { modules }),
    },
  };
}

function texts(value: unknown): string[] {
  const all: unknown[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return all.map(String);
}
