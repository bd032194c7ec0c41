// What the page says of a lesson above everything else, with the inputs that belong to it.
import { element } from './dom.js';
import { inputButton } from './first_inputs.js';

/**
 * @param {import('./main.js').App} app
 * @param {HTMLElement} node
 */
export function guide(app, node) {
  let buttons = [];
  return {
    /** @param {?import('./api.js').Guide} given */
    fill(given) {
      node.hidden = !given;
      if (!given) return;
      buttons = given.inputs.map((source) => inputButton(app, { source, others: '' }));
      node.replaceChildren(
        element('summary', {}, element('h2', {}, given.title)),
        element('p', {}, given.text),
        element('div', { className: 'inputs' }, ...buttons),
      );
    },
    /** Marks the input that is shown. */
    update() {
      const { source } = app.store.state;
      for (const button of buttons) button.setAttribute('aria-pressed', button.textContent === source);
    },
  };
}
