// The report of `iree-dbg diff --json`, as it comes from the process. Does not use VS Code.

import type { Report } from "../../views/module/report";

/** The version of the report that this extension knows (`runtime/cli/schemas/diff.schema.json`). */
const VERSION = 1;

/** Reads a report; where there is none, what was said instead is the error. */
export function reportOf(output: string, errors: string): Report {
  const report = read(output);
  if (report === undefined) {
    throw new Error(errors.trim().replace(/^error: /, "") || "iree-dbg has ended without a report");
  }
  if (report.schema_version !== VERSION) {
    throw new Error(`This iree-dbg writes reports of version ${report.schema_version}; this extension reads version ${VERSION}. Update the older one.`);
  }
  return report;
}

function read(output: string): Report | undefined {
  try {
    return JSON.parse(output) as Report;
  } catch {
    return undefined;
  }
}

/** The files of both sides that a report names, which a page may ask for. */
export function keptPairs(report: Report): (readonly [a: string, b: string])[] {
  const ofDispatches = report.dispatches.flatMap(({ tensors, inputs }) => [...tensors, ...inputs]);
  const tensors = [...ofDispatches, ...report.results, ...report.own.map(({ tensor }) => tensor)];
  return tensors.flatMap(({ kept }) => (kept !== null && "a" in kept ? [[kept.a, kept.b] as const] : []));
}
