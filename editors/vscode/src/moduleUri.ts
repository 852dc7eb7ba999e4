// The URI of a module's disassembly: `iree-vmfb:`, the module's path, and `.vmasm`.
//
//   file:///models/gcd.vmfb   <->   iree-vmfb:/models/gcd.vmfb.vmasm
//
// VS Code sends breakpoints in such a document with the whole URI as the source's path, and the debug adapter
// puts it into stack frames, so both sides must agree on this rule. The suffix makes it a vmasm document and
// keeps it from the editor for `*.vmfb`.

export const MODULE_SCHEME = "iree-vmfb";
/** Texts of files that are too large for VS Code, made by the language server. */
export const LARGE_TEXT_SCHEME = "iree-text";
const SUFFIX = ".vmasm";

/** The parts of `vscode.Uri` that the rule needs. */
interface UriLike<Self> {
  readonly scheme: string;
  readonly path: string;
  with(change: { scheme: string; path: string }): Self;
}

/** The disassembly of the module file `module`. */
export function disassemblyUri<U extends UriLike<U>>(module: U): U {
  return module.with({ scheme: MODULE_SCHEME, path: module.path + SUFFIX });
}

/** The module file of a disassembly; undefined for other documents. */
export function moduleUri<U extends UriLike<U>>(uri: U): U | undefined {
  if (uri.scheme !== MODULE_SCHEME || !uri.path.endsWith(SUFFIX)) {
    return undefined;
  }
  return uri.with({ scheme: "file", path: uri.path.slice(0, -SUFFIX.length) });
}
