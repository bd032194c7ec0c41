// A sentence whose words can be changed one by one.
import { element } from './dom.js';

/**
 * @param {function(string): void} onChange with the sentence as it is after a change
 */
export function words(onChange) {
  const line = element('p', { className: 'flow words', dir: 'auto' });
  const node = element('div', {}, element('h3', {}, 'Choose a word to change it'), line);
  let shown = null;

  const edit = (parts, place) => {
    const input = element('input', {
      value: parts[place],
      'aria-label': 'Other word',
      size: Math.max(3, parts[place].length),
      dir: 'auto',
    });
    const finish = () => {
      if (!input.isConnected) return;
      shown = null;
      onChange(parts.with(place, input.value).join('').replace(/\s+/g, ' ').trim());
    };
    input.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') finish();
      if (event.key === 'Escape') {
        input.value = parts[place];
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
  };
  return { node, show };
}
