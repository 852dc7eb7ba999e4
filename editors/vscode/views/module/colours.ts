// The colours and fonts of the theme, for what is drawn on a canvas. Those of pictures on white paper are in
// `paper.ts`.

const colourOf = (name: string): string => getComputedStyle(document.body).getPropertyValue(name).trim();

function lookUp() {
  const dim = colourOf("--vscode-descriptionForeground") || "#888";
  return {
    text: colourOf("--vscode-foreground") || "#888",
    dim,
    box: colourOf("--vscode-editorWidget-background") || "#eee",
    border: colourOf("--vscode-editorWidget-border") || colourOf("--vscode-widget-border") || "#888",
    frame: colourOf("--vscode-editor-inactiveSelectionBackground") || "rgb(128 128 128 / 20%)",
    line: colourOf("--vscode-editorIndentGuide-activeBackground1") || dim,
    focus: colourOf("--vscode-focusBorder") || "#08f",
    green: colourOf("--vscode-charts-green") || "#388a34",
    yellow: colourOf("--vscode-charts-yellow") || "#bf8803",
    breakpoint: colourOf("--vscode-debugIcon-breakpointForeground") || "#e51400",
    red: colourOf("--vscode-charts-red") || "#e51400",
    blue: colourOf("--vscode-charts-blue") || "#1a85ff",
    purple: colourOf("--vscode-charts-purple") || "#652d90",
    orange: colourOf("--vscode-charts-orange") || "#d18616",
    mono: colourOf("--vscode-editor-font-family") || "monospace",
    font: colourOf("--vscode-font-family") || "sans-serif",
  };
}

export type Colours = ReturnType<typeof lookUp>;

/** Looked up once until the theme changes. */
let known: Colours | undefined;

export const colours = (): Colours => (known ??= lookUp());

/** Acts when the theme has changed. */
export function onNewTheme(act: () => void): void {
  const observer = new MutationObserver(() => {
    known = undefined;
    act();
  });
  observer.observe(document.body, { attributes: true, attributeFilter: ["class"] });
}
