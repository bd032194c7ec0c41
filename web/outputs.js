// Two outputs above each other, with what differs marked.
import { align } from './align.js';
import { element } from './dom.js';
import { tokenTexts } from './tokens.js';

/** A run, and which of its hypotheses. @typedef {{run: import('./run.js').Run, path: string}} Side */

/**
 * Shows both outputs, with the tokens that the other does not have marked.
 * @param {HTMLElement[]} nodes
 * @param {Side[]} sides one side twice is shown once
 */
export function showOutputs(nodes, sides) {
  const tokens = sides.map(({ run, path }) => run.path(path).map((node) => node.token));
  const pairs = align(...tokens).filter(([i, j]) => tokens[0][i] === tokens[1][j]);
  nodes.forEach((node, side) => {
    const shared = new Set(pairs.map((pair) => pair[side]));
    node.hidden = side === 1 && sides[0] === sides[1];
    node.replaceChildren(
      ...tokenTexts(tokens[side]).map((text, i) =>
        element('span', { className: shared.has(i) ? '' : 'changed' }, text),
      ),
    );
  });
}
