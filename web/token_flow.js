// The output token by token: any of them can be written over, and what follows is written again.
import { colourer, inkOn } from './colours.js';
import { element } from './dom.js';
import { largest } from './maps.js';
import { isSelf, pairOf } from './pairs.js';
import { plainText, tokenTexts } from './tokens.js';

/**
 * @param {function(number, string): void} onEdit called with the place of a token and what is to
 *   stand there instead
 */
export function tokenFlow(onEdit) {
  const node = element('p', { className: 'flow tokens', dir: 'auto' });
  /** @type {?import('./run.js').Run} */
  let run = null;
  let path = [];
  let isEditing = false;

  const edit = (place) => {
    const before = plainText(path[place].token);
    const input = element('input', {
      value: before,
      'aria-label': 'Write instead',
      size: Math.max(3, before.length),
      dir: 'auto',
    });
    let isDone = false; // an input that leaves the page loses the focus once more
    const finish = (isMeant) => {
      if (isDone) return;
      [isDone, isEditing] = [true, false];
      if (isMeant && input.value !== before) onEdit(place, input.value);
      draw();
    };
    input.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') finish(true);
      if (event.key === 'Escape') finish(false);
      event.stopPropagation();
    });
    input.addEventListener('blur', () => finish(false));
    isEditing = true;
    node.children[place].replaceWith(input);
    input.select();
  };

  /** Shades the tokens that were looked at when the one at a place was written. */
  const shade = (place) => {
    if (isEditing) return;
    const row = looked(run, path, place);
    const colour = colourer({ most: largest(row) });
    [...node.children].forEach((token, i) => {
      const value = row[i + 1] ?? 0; // the first is the start
      const background = value && i < place ? colour(value) : '';
      token.style.background = background;
      token.style.color = background && inkOn(background);
      token.classList.toggle('now', i === place && row.length > 0);
    });
  };
  const placeOf = (target) => [...node.children].indexOf(target.closest('.tokens > *'));
  const draw = () => {
    const texts = tokenTexts(path.map(({ token }) => token));
    node.replaceChildren(
      ...texts.map((text, i) =>
        element('button', { type: 'button', disabled: path[i].ends, onclick: () => edit(i) }, text),
      ),
    );
    shade(path.length - 1);
  };
  node.addEventListener('pointerover', ({ target }) => {
    const place = placeOf(target);
    if (place >= 0) shade(place);
  });
  node.addEventListener('focusin', ({ target }) => {
    const place = placeOf(target);
    if (place >= 0) shade(place);
  });
  node.addEventListener('pointerleave', () => shade(path.length - 1));
  let shown = '';
  return {
    node,
    /** Whether the shades mean anything. */
    hasShades: () => Boolean(run && looked(run, path, path.length - 1).length),
    /** Follows a run, while it is written too. */
    show(next, nodes) {
      const key = `${next.id} ${nodes.map(({ id }) => id).join()}`;
      if (key === shown || isEditing) return;
      shown = key;
      [run, path] = [next, nodes];
      draw();
    },
    draw: () => shade(path.length - 1),
  };
}

/** Where an output that looks at itself did so when a token was written: at the start, and so on. */
function looked(run, path, place) {
  if (!run?.watched || !isSelf(pairOf(run.watched))) return [];
  return path[place]?.row ?? [];
}
