// Colours of the theme, for what is drawn on canvases.

/** A colour, or another value, of the theme. */
export const themed = (name: string): string => getComputedStyle(document.body).getPropertyValue(`--vscode-${name}`);
