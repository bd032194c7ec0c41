// Small helpers to build elements. Text goes in as text nodes only, never as markup.

const svgNamespace = 'http://www.w3.org/2000/svg';

/** Whether there is a finger in place of a mouse and keys. */
export const isTouched = matchMedia('(hover: none) and (pointer: coarse)').matches;

const isNarrow = matchMedia('(max-width: 52rem)'); // as in style.css

/** The height to leave below a map for what it says about a cell; on a wide screen that is beside it. */
export const roomBelow = () => (isNarrow.matches ? 110 : 0);

/**
 * Makes an HTML element. A property that the element has is set; any other becomes an attribute.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Object<string, *>} [properties]
 * @param {...(Node|string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/**
 * Makes an SVG element.
 * @param {string} tag
 * @param {Object<string, string|number>} [attributes]
 * @param {...(Node|string)} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(svgNamespace, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/**
 * Fills a select with options, unless it has them already, and chooses one.
 * @param {HTMLSelectElement} select
 * @param {Array<[string, string]>} options values and their names
 * @param {string} chosen
 */
export function fillSelect(select, options, chosen) {
  const isFilled =
    select.options.length === options.length &&
    options.every(([value, name], i) => {
      const option = select.options[i];
      return option.value === value && option.textContent === name;
    });
  if (!isFilled)
    select.replaceChildren(...options.map(([value, name]) => element('option', { value }, name)));
  select.value = chosen;
}

/**
 * A labelled control.
 * @param {string} name
 * @param {HTMLElement} control
 */
export function field(name, control) {
  return element('label', { className: 'field' }, element('span', {}, name), control);
}

/**
 * A row of buttons of which one is pressed.
 * @param {string} name what is chosen, for those who do not see the row
 * @param {Array<[string, string]>} options values and their names
 * @param {function(string): void} onChoose
 */
export function choice(name, options, onChoose) {
  const buttons = options.map(([value, text]) =>
    element('button', { type: 'button', value, onclick: () => onChoose(value) }, text),
  );
  const node = element(
    'div',
    { className: 'choice', role: 'group', 'aria-label': name },
    ...buttons,
  );
  /** Presses a button; those that are not offered are hidden. */
  const choose = (value, offered = options.map(([name]) => name)) =>
    buttons.forEach((button) => {
      button.setAttribute('aria-pressed', button.value === value);
      button.hidden = !offered.includes(button.value);
    });
  return { node, choose };
}

/**
 * Calls `onStep` at a steady pace while playing, behind a button with two faces.
 * @param {function(): boolean} onStep does one step; false stops
 * @param {number} milliseconds between steps
 */
export function player(onStep, milliseconds) {
  let timer = 0;
  const button = element(
    'button',
    { type: 'button', className: 'play', onclick: () => toggle() },
    'Play',
  );
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    button.textContent = 'Play';
  };
  const toggle = () => {
    if (timer) return stop();
    button.textContent = 'Pause';
    timer = setInterval(() => onStep() || stop(), milliseconds);
  };
  return { button, toggle, stop };
}
