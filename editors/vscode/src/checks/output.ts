// What `iree-dbg check` prints, as results of tests. Does not use VS Code.

export interface CheckResult {
  readonly name: string;
  readonly hasPassed: boolean;
  readonly faults: readonly string[];
}

/** The tests that have ended, in order. */
export function resultsOf(output: string): CheckResult[] {
  const results: CheckResult[] = [];
  let faults: string[] = [];
  for (const line of output.split(/\r?\n/)) {
    const head = /^\[ {0,7}(RUN|OK|FAILED) *\] (.*)$/.exec(line);
    if (head === null) {
      if (line.startsWith("  ")) {
        faults.push(line.slice(2));
      }
    } else if (head[1] === "RUN") {
      faults = [];
    } else {
      results.push({ name: head[2] ?? "", hasPassed: head[1] === "OK", faults });
    }
  }
  return results;
}
