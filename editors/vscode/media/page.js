// What the pages of web views have in common: making elements.

/** An element with attributes and children. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value);
    } else if (value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children);
  return element;
}

/** A choice of texts. */
export function select(options, chosen, act) {
  const element = make("select", { onchange: () => act(element.value) });
  element.append(...options.map((option) => make("option", { value: option, selected: option === chosen }, option)));
  return element;
}
