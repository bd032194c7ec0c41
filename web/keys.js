// Keys that work everywhere on the page, and the list of them.

/** Keys with what they do, for the manual. */
export const listedKeys = [
  ['/', 'edit the input'],
  ['1 – 9, l, m, p', 'open a view'],
  ['[  ]', 'previous and next layer'],
  [',  .', 'previous and next head'],
  ['← ↑ → ↓', 'move through the map, tokens or tree in focus'],
  ['Enter', 'show how the weight of the chosen cell is computed'],
  ['x', 'switch the head in focus off or on'],
  ['+  −  0', 'enlarge a map, make it smaller, show all of it'],
  ['Space', 'play or pause'],
  ['Esc', 'release the chosen cell, or leave the input'],
  ['e', 'export'],
  ['t', 'light or dark'],
  ['?', 'open this page'],
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
