// What the pages of web views have in common: making elements.

import { digitsOn } from "./contrast";

type Listeners = {
  readonly [Name in keyof HTMLElementEventMap as `on${Name}`]?: (event: HTMLElementEventMap[Name]) => void;
};

/** Attributes by the names of HTML, and listeners as `onclick`. Without a value, or if it is false, there is none. */
export type Attributes = Listeners & { readonly [name: `data-${string}`]: string | undefined } & {
  readonly [Name in AttributeName]?: string | boolean | undefined;
};

type AttributeName =
  | `aria-${"activedescendant" | "describedby" | "hidden" | "invalid" | "label" | "level" | "live" | "pressed"}`
  | `aria-${"roledescription" | "valuetext"}`
  | "autocomplete" | "checked" | "class" | "colspan" | "for" | "height" | "hidden" | "id" | "max" | "min"
  | "placeholder" | "role" | "scope" | "selected" | "spellcheck" | "style" | "tabindex"
  | "title" | "type" | "value" | "width";

export type Child = Node | string | undefined | false;

/** An element with attributes and children. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag, attributes: Attributes = {}, ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), value as EventListener);
    } else if (name === "style") {
      // The page's policy refuses the attribute.
      element.style.cssText = String(value);
    } else if (value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.filter((child) => child !== undefined && child !== false));
  return element;
}

/** A choice of texts. */
export function select(
  options: readonly string[], chosen: string | undefined, act: (text: string) => void,
): HTMLSelectElement {
  const element = make("select", { onchange: () => act(element.value) });
  element.append(...options.map((option) => make("option", { value: option, selected: option === chosen }, option)));
  return element;
}

/** What a canvas is drawn with. */
export function penOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const pen = canvas.getContext("2d");
  if (pen === null) {
    throw new Error("This browser draws nothing on a canvas.");
  }
  return pen;
}

/** The place that the page's contents stand in (`src/webviews.ts`). */
export function mainOfPage(): HTMLElement {
  const main = document.querySelector("main");
  if (main === null) {
    throw new Error("The page has no <main>.");
  }
  return main;
}

/** Black or white, whichever can be read over the background of an element that is in the page. */
export function digitsOver(element: Element): "#000" | "#fff" {
  const numbers = (of: Element): number[] =>
    (getComputedStyle(of).backgroundColor.match(/[\d.]+/g) ?? []).map(Number);
  const [red = 0, green = 0, blue = 0, opacity = 1] = numbers(element);
  const under = numbers(document.body);
  const [r, g, b] = [red, green, blue].map((it, at) => it * opacity + (under[at] ?? 0) * (1 - opacity));
  return digitsOn([r ?? 0, g ?? 0, b ?? 0]);
}
