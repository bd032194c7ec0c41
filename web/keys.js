// Keys that work everywhere on the page, and the list of them.
import { element } from './dom.js';

const listed = [
  ['/', 'edit the sentence'],
  ['1 – 9', 'choose a view'],
  ['l', 'see what each layer would write'],
  ['[  ]', 'previous and next layer'],
  [',  .', 'previous and next head'],
  ['← ↑ → ↓', 'move through the map, tokens or tree in focus'],
  ['Enter', 'go to the arithmetic of the chosen cell'],
  ['x', 'switch the small map in focus off or on'],
  ['+  −  0', 'zoom a map'],
  ['Space', 'play or pause a slider'],
  ['Esc', 'release the chosen cell, or leave the sentence'],
  ['e', 'export'],
  ['t', 'light or dark'],
  ['?', 'show these keys'],
];

/**
 * Listens for keys, outside of fields one writes in.
 * @param {Object<string, function(): *>} actions by key; false: the key does here what it always does
 */
export function listenForKeys(actions) {
  addEventListener('keydown', (event) => {
    const isWriting = event.target.closest(
      'input:not([type=range]), textarea, select, dialog[open]',
    );
    if (isWriting || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === ' ' && event.target.closest('button, summary')) return;
    const action = actions[event.key];
    if (!action) return;
    if (action() !== false) event.preventDefault();
  });
}

/** Fills the dialog that lists the keys. @param {HTMLDialogElement} dialog */
export function describeKeys(dialog) {
  const entries = listed.flatMap(([key, meaning]) => [
    element('dt', {}, element('kbd', {}, key)),
    element('dd', {}, meaning),
  ]);
  const close = element('button', { type: 'button', onclick: () => dialog.close() }, 'Close');
  dialog.replaceChildren(element('h2', {}, 'Keys'), element('dl', {}, ...entries), close);
  dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
}
