// The colours and fonts of pictures that are looked at without VS Code, on white. They have the names of those in
// `colours.ts`.

export const PAPER = {
  text: "#1f2328", dim: "#59636e", box: "#ffffff", border: "#8c959f", frame: "#eaeef2", line: "#8c959f",
  focus: "#0969da", green: "#2da44e", yellow: "#bf8700", breakpoint: "#e51400",
  red: "#cf222e", blue: "#1a7fd6", purple: "#8250df",
  orange: "#d4741c", mono: "ui-monospace, Menlo, Consolas, monospace", font: "system-ui, sans-serif",
};

export type Paper = { readonly [name in keyof typeof PAPER]: string };
