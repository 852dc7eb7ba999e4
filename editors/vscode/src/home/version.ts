// The version in the output of `iree-compile --version`. Does not use VS Code.

/** Such as 3.13.0; candidates keep their suffix: 3.13.0rc20261016. */
export function versionOf(output: string): string | undefined {
  return /\bversion (\d+\.\d+(?:\.\d+)?\S*)/.exec(output)?.[1];
}
