// A sentence whose words can be changed one by one.
import { element } from './dom.js';

/**
 * @param {function(string): void} onChange with the sentence as it is after a change
 */
export function words(onChange) {
  const line = element('p', { className: 'flow words', dir: 'auto' });
  const node = element('div', {}, element('h3', {}, 'Second input: click a word to change it'), line);
  let shown = null;
  let last = ['', '']; // what was shown: the sentence and its original
  let focused = -1; // the word that was changed by keyboard

  const edit = (parts, place) => {
    const input = element('input', {
      value: parts[place],
      'aria-label': 'New word',
      size: Math.max(3, parts[place].length),
      dir: 'auto',
    });
    let isDone = false; // an input that leaves the page loses the focus once more
    const finish = () => {
      if (isDone) return;
      isDone = true;
      shown = null;
      const changed = parts.with(place, input.value).join('').replace(/\s+/g, ' ').trim();
      if (changed === last[0] || !changed) show(...last);
      else onChange(changed);
    };
    input.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') input.value = parts[place];
      if (event.key === 'Enter' || event.key === 'Escape') {
        focused = place;
        finish();
      }
      event.stopPropagation();
    });
    input.addEventListener('blur', finish);
    line.childNodes[place].replaceWith(input);
    input.select();
  };

  const show = (sentence, original) => {
    if (shown === sentence + '\n' + original) return;
    shown = sentence + '\n' + original;
    last = [sentence, original];
    const parts = sentence.split(/(\s+)/);
    const before = new Set(original.split(/\s+/));
    line.replaceChildren(
      ...parts.map((part, place) =>
        part.trim()
          ? element(
              'button',
              {
                type: 'button',
                className: before.has(part) ? '' : 'changed',
                onclick: () => edit(parts, place),
              },
              part,
            )
          : ' ',
      ),
    );
    if (focused >= 0) line.childNodes[focused]?.focus?.();
    focused = -1;
  };
  return { node, show };
}
