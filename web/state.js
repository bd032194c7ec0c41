// The state of the page. All of it lives in location.hash, so a link restores the view.

export const defaults = {
  view: 'matrix',
  model: 0,
  source: '',
  target: '',
  start: '',
  beam: 4,
  top: 5,
  part: '',
  layer: 'mean', // a layer's name, or what becomes of all of them: mean, rollout, flow
  head: 'mean',
  row: -1,
  column: -1,
  zoom: 100, // percent
  side: 'rows', // of the head view: which column of tokens the cursor is in
  step: -1,
  path: '',
  saliency: 'gradient',
  compare: 'inputs',
  model2: 1,
  source2: '',
  layer2: '',
  head2: 'mean',
  snapshot: -1,
  sentence: 0,
};

/** @typedef {typeof defaults} State */

/** Holds the state, tells its subscribers of changes, and keeps the address in step. */
export class Store {
  #listeners = new Set();

  constructor() {
    /** @type {State} */
    this.state = parse(location.hash);
    addEventListener('hashchange', () => {
      this.state = parse(location.hash);
      this.#notify();
    });
  }

  /**
   * Changes some of the state. A change of view can be gone back from; others replace the address.
   * @param {Partial<State>} patch
   */
  set(patch) {
    const before = this.state;
    const next = { ...before, ...patch };
    if (Object.keys(patch).every((key) => before[key] === next[key])) return;
    this.state = next;
    const address = '#' + format(next);
    if (next.view === before.view) history.replaceState(null, '', address);
    else history.pushState(null, '', address);
    this.#notify();
  }

  /** @param {function(State): void} listener */
  subscribe(listener) {
    this.#listeners.add(listener);
  }

  #notify() {
    for (const listener of this.#listeners) listener(this.state);
  }
}

/** @param {string} hash */
function parse(hash) {
  const state = { ...defaults };
  for (const [key, text] of new URLSearchParams(hash.slice(1))) {
    if (!(key in defaults)) continue;
    const isNumber = typeof defaults[key] === 'number';
    if (!isNumber) state[key] = text;
    else if (Number.isInteger(Number(text))) state[key] = Number(text);
  }
  return state;
}

/** @param {State} state */
function format(state) {
  const changed = Object.entries(state).filter(([key, value]) => value !== defaults[key]);
  return new URLSearchParams(changed.map(([key, value]) => [key, String(value)])).toString();
}
