// The page's side of the messages between a web view and the extension. The `protocol.ts` of each page has their types.

/** VS Code gives it once to each page. */
declare function acquireVsCodeApi(): { postMessage(message: unknown): void };

interface Connection<FromPage, ToPage> {
  readonly tell: (message: FromPage) => void;
  readonly hear: (act: (message: ToPage) => void) => void;
}

/** Messages to the extension, and what is done with those that come from it. */
export function connect<FromPage, ToPage>(): Connection<FromPage, ToPage> {
  const host = acquireVsCodeApi();
  return {
    tell: (message) => host.postMessage(message),
    hear: (act) => addEventListener("message", ({ data }: MessageEvent<ToPage>) => act(data)),
  };
}
