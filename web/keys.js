// Keys that work everywhere on the page, and the list of them.
import { element } from './dom.js';

const listed = [
  ['/', 'write a sentence'],
  ['1 – 9', 'choose a view'],
  ['[  ]', 'previous and next layer'],
  [',  .', 'previous and next head'],
  ['← ↑ → ↓', 'walk through the map, the tokens or the tree in focus'],
  ['+  −  0', 'zoom a map'],
  ['Space', 'play, where there is a slider'],
  ['Esc', 'let go of a cell of the map in focus, or leave the sentence'],
  ['e', 'export'],
  ['t', 'light or dark'],
  ['?', 'these keys'],
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
