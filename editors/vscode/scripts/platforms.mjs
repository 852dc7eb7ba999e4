// Which platform a program is for, read from its head: ELF, Mach-O (also with several architectures) or PE. A package
// with the program of another platform cannot be made so.
import { closeSync, openSync, readSync } from "node:fs";

const ELF = { 62: "linux-x64", 183: "linux-arm64", 40: "linux-armhf" };
const MACH = { 0x01000007: "darwin-x64", 0x0100000c: "darwin-arm64" };
const PE = { 0x8664: "win32-x64", 0xaa64: "win32-arm64" };

/** The platforms of a program, as VS Code names them. */
export function platformsOf(path) {
  const head = readHead(path);
  const found = platformsOfHead(head);
  if (found.length === 0 || found.includes(undefined)) {
    throw new Error(`${path} is not a program for Linux, macOS or Windows`);
  }
  return found;
}

/** The platforms of a program, from its first bytes. */
export function platformsOfHead(head) {
  if (head.length < 64) {
    return [];
  }
  if (head.readUInt32BE(0) === 0x7f454c46) {
    return [ELF[head.readUInt16LE(18)]];
  }
  if (head.readUInt32LE(0) === 0xfeedfacf) {
    return [MACH[head.readUInt32LE(4)]];
  }
  if (head.readUInt32BE(0) === 0xcafebabe) {
    const count = Math.min(head.readUInt32BE(4), 2);
    return Array.from({ length: count }, (_, index) => MACH[head.readUInt32BE(8 + index * 20)]);
  }
  const pe = head.readUInt32LE(60);
  if (head.toString("latin1", 0, 2) === "MZ" && pe + 6 <= head.length && head.toString("latin1", pe, pe + 4) === "PE\0\0") {
    return [PE[head.readUInt16LE(pe + 4)]];
  }
  return [];
}

function readHead(path) {
  const file = openSync(path, "r");
  try {
    const head = Buffer.alloc(4096);
    return head.subarray(0, readSync(file, head, 0, head.length, 0));
  } finally {
    closeSync(file);
  }
}
