// Four notes that lead a first visitor over the page. They are shown once in a browser, and again on
// request.
import { element } from './dom.js';
import { store, stored } from './storage.js';

const key = 'attend-tour';
const gap = 12; // pixels between a note and what it is about

const steps = [
  {
    of: '.sentence',
    text: 'Type an input here, or click one of those on offer. The output appears below it, token by token.',
  },
  {
    of: '[role=tablist]',
    text: 'Each tab shows another side of the same output: what the model attended to, what else it could have written, how it was trained.',
  },
  {
    of: '#view',
    text: 'Point at a token or a cell to read its numbers; click to keep it selected. Arrow keys work as well.',
  },
  {
    of: '#help',
    text: 'This explains every view and lists the keys. Pictures, data and a link to what you see are under Export.',
  },
];

/** Whether the tour is still to be shown. What the browser cannot remember would come back each time. */
export const isFirstVisit = () => !stored(key) && store(key, 'seen');

/** @param {HTMLElement} node where the notes are put */
export function tour(node) {
  let now = -1;
  const text = element('p');
  const place = element('span', { className: 'hint' });
  const skip = element('button', { type: 'button', className: 'quiet', onclick: () => end() }, 'Skip');
  const next = element('button', { type: 'button', onclick: () => go(now + 1) });
  node.replaceChildren(text, element('div', {}, place, skip, next));

  const mark = (isOn) => {
    if (now >= 0) document.querySelector(steps[now].of).classList.toggle('toured', isOn);
  };
  const end = () => {
    mark(false);
    [now, node.hidden] = [-1, true];
  };
  const go = (to) => {
    mark(false);
    if (to >= steps.length) return end();
    now = to;
    node.hidden = false;
    mark(true);
    text.textContent = steps[now].text;
    place.textContent = `${now + 1} of ${steps.length}`;
    const isLast = now === steps.length - 1;
    skip.hidden = isLast;
    next.textContent = isLast ? 'Done' : 'Next';
    put();
    next.focus({ preventScroll: true });
  };
  /** Puts the note below what it is about, or over its lower part where there is no room. */
  const put = () => {
    if (now < 0) return;
    const about = document.querySelector(steps[now].of).getBoundingClientRect();
    const [width, height] = [node.offsetWidth, node.offsetHeight];
    const within = (value, most) => Math.max(gap, Math.min(value, most - gap));
    node.style.left = `${within(about.left, document.documentElement.clientWidth - width)}px`;
    node.style.top = `${within(Math.max(gap, about.bottom) + gap, innerHeight - height)}px`;
  };
  addEventListener('resize', put);
  addEventListener('scroll', put);
  node.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    end();
    event.stopPropagation();
  });
  return { start: () => go(0), put };
}
