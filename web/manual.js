// The dialog behind "?": what each view shows, and the keys.
import { element } from './dom.js';
import { listedKeys } from './keys.js';
import { keyOf, views } from './views.js';

/**
 * @param {HTMLDialogElement} dialog
 * @param {function(): void} onTour starts the tour
 */
export function fillManual(dialog, onTour) {
  const entry = (name, meaning) => [element('dt', {}, ...name), element('dd', {}, meaning)];
  const kbd = (key) => element('kbd', {}, key);
  const shown = views.flatMap((view) => entry([view.title, ' ', kbd(keyOf(view))], view.about));
  const keys = listedKeys.flatMap(([key, meaning]) => entry([kbd(key)], meaning));
  const tour = () => {
    dialog.close();
    onTour();
  };
  dialog.replaceChildren(
    element('h2', { tabIndex: -1, autofocus: true }, 'Views'), // not the button at the end
    element('dl', { className: 'views' }, ...shown),
    element('h2', {}, 'Keys'),
    element('dl', {}, ...keys),
    element(
      'p',
      { className: 'buttons' },
      element('button', { type: 'button', onclick: tour }, 'Take the tour'),
      element('button', { type: 'button', onclick: () => dialog.close() }, 'Close'),
    ),
  );
  dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
}
