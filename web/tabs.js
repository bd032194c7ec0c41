// The row of tabs that chooses a view.
import { element } from './dom.js';

/**
 * @param {HTMLElement} list
 * @param {Array<{id: string, title: string}>} views
 * @param {function(string): void} onChoose
 */
export function tabs(list, views, onChoose) {
  const buttons = views.map(({ id, title }) => {
    const properties = { type: 'button', role: 'tab', value: id, 'aria-controls': 'view' };
    return element('button', { ...properties, onclick: () => onChoose(id) }, title);
  });
  list.replaceChildren(...buttons);
  list.addEventListener('keydown', (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    const open = buttons.filter(({ hidden }) => !hidden);
    const next = open.at((open.indexOf(event.target) + by) % open.length);
    onChoose(next.value);
    next.focus();
    event.preventDefault();
  });
  let shown = '';
  let offered = [];
  /** Scrolls the row so that the tab that is open stands in its middle. */
  const reveal = () => {
    const chosen = buttons.find(({ value }) => value === shown);
    if (!chosen) return;
    const middle = chosen.offsetLeft - list.offsetLeft + chosen.offsetWidth / 2;
    list.scrollLeft = middle - list.clientWidth / 2;
  };
  return {
    /** Marks the view that is open; views that are not offered have no tab. */
    show(id, ids) {
      if (id === shown && ids.join() === offered.join()) return;
      [shown, offered] = [id, ids];
      for (const button of buttons) {
        button.hidden = button.value !== id && !ids.includes(button.value);
        const isChosen = button.value === id;
        button.setAttribute('aria-selected', String(isChosen));
        button.tabIndex = isChosen ? 0 : -1;
      }
      reveal();
    },
    reveal,
  };
}
