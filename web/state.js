// The state of the page. All of it lives in location.hash, so a link restores the view.

const pause = 200; // milliseconds; browsers refuse an address that is written at every change

export const defaults = {
  view: 'matrix',
  model: 0,
  source: '', // what is read first, or the beginning of what a language model writes
  others: '', // what else is read: a JSON list of texts
  target: '', // the whole output, where it is given
  start: '',
  startIds: '', // tokens in place of a text, or before it: "7,12"; none: the text alone
  beam: 0, // as is usual for the model
  top: 5,
  tokens: 40, // that a language model writes
  temperature: '0', // of sampling; 0: the likeliest
  seed: 1,
  halt: 0, // 1: nothing is written after the given beginning
  pair: '', // which sequence looks at which: "target/source"
  layer: 'mean', // a layer's name, or what becomes of all of them: mean, rollout, flow
  head: 'mean',
  row: -1,
  column: -1,
  zoom: 100, // percent
  side: 'rows', // of the head view: which column of tokens the cursor is in
  step: -1,
  out: '', // heads that are off: "decoder.0.cross:1,decoder.1.self:0"
  path: '',
  saliency: 'gradient',
  stage: -1, // of the logit lens: the layer and the position of the chosen cell
  position: -1,
  shade: 'likeliest', // what its colours show
  place: -1, // of the token that is hidden
  points: '', // of embeddings: texts, words or lines
  projection: 'pca',
  perplexity: 30,
  most: 500, // points
  compare: '', // two models where there are two, unless there is a second input
  model2: -1, // -1: another one, with the same attention if there is one
  source2: '',
  layer2: '',
  head2: 'mean',
  snapshot: -1,
  sentence: 0,
};

/** What an input changes that is not the one before. */
export const otherInput = Object.fromEntries(
  ['others', 'target', 'start', 'startIds', 'halt', 'path', 'source2', 'row', 'column', 'zoom', 'step', 'place'].map(
    (key) => [key, defaults[key]],
  ),
);

/** What the explorer accepts. */
export const ranges = { beam: [0, 16], top: [1, 20], tokens: [1, 1000], seed: [1, 999999], perplexity: [1, 1000], most: [2, 2000] };

/** @typedef {typeof defaults} State */

/** Holds the state, tells its subscribers of changes, and keeps the address in step. */
export class Store {
  #listeners = new Set();
  #hash = location.hash; // as it was last written or read
  #timer = 0; // while the address is behind the state

  constructor() {
    /** @type {State} */
    this.state = parse(this.#hash);
    addEventListener('hashchange', () => {
      this.#stopTimer();
      this.#hash = location.hash;
      this.state = parse(this.#hash);
      this.#notify();
    });
    addEventListener('pagehide', () => this.#writeLate(this.state));
  }

  /** The address that restores the state. */
  get link() {
    return new URL('#' + format(this.state), location.href).href;
  }

  /**
   * Changes some of the state. A change of view can be gone back from; others replace the address,
   * once they have come to rest.
   * @param {Partial<State>} patch
   */
  set(patch) {
    const before = this.state;
    const next = { ...before, ...patch };
    if (Object.keys(patch).every((key) => before[key] === next[key])) return;
    this.state = next;
    this.#notify();
    if (next.view === before.view) return this.#writeSoon();
    this.#writeLate(before);
    this.#write('pushState', next);
  }

  /** Takes texts by the names of the state, unless the address says what to show. */
  begin(texts) {
    if (this.#hash.length > 1) return;
    this.state = parse('#' + new URLSearchParams(texts));
    this.#write('replaceState', this.state);
    this.#notify();
  }

  /** @param {function(State): void} listener */
  subscribe(listener) {
    this.#listeners.add(listener);
  }

  #writeSoon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#writeLate(this.state), pause);
  }

  #stopTimer() {
    clearTimeout(this.#timer);
    this.#timer = 0;
  }

  /** Writes what waits to be written; not over an address that was changed by other means. */
  #writeLate(state) {
    if (!this.#timer) return;
    this.#stopTimer();
    if (location.hash === this.#hash) this.#write('replaceState', state);
  }

  /** @param {'pushState'|'replaceState'} how */
  #write(how, state) {
    try {
      history[how](null, '', '#' + format(state));
    } catch {
      return this.#writeSoon(); // too often for the browser
    }
    this.#hash = location.hash;
  }

  #notify() {
    for (const listener of this.#listeners) listener(this.state);
  }
}

/** The texts of a JSON list; none where an address has something else. */
export function textsIn(list) {
  try {
    const texts = JSON.parse(list || '[]');
    return Array.isArray(texts) ? texts.map(String) : [];
  } catch {
    return [];
  }
}

/** A temperature as the explorer takes it. */
export function temperatureOf({ temperature }) {
  const value = Number(temperature);
  return value > 0 ? Math.min(value, 10) : 0;
}

/** How wide the search is: for a language model, one that takes the likeliest token each time. */
export function beamOf({ beam }, isContinued) {
  return beam || (isContinued ? 1 : 4);
}

/** The numbers of a list such as "7,12". */
export function numbersIn(list) {
  return list && list !== 'none' ? list.split(',').map(Number) : [];
}

/** @param {string} hash */
function parse(hash) {
  const state = { ...defaults };
  for (const [key, text] of new URLSearchParams(hash.slice(1))) {
    if (!(key in defaults)) continue;
    const isNumber = typeof defaults[key] === 'number';
    if (!isNumber) state[key] = text;
    else if (Number.isInteger(Number(text))) state[key] = within(Number(text), ranges[key]);
  }
  return state;
}

/** The nearest number of a range. */
export function within(value, [least, most] = [-Infinity, Infinity]) {
  return Math.max(least, Math.min(most, value));
}

/** @param {State} state */
function format(state) {
  const changed = Object.entries(state).filter(([key, value]) => value !== defaults[key]);
  return new URLSearchParams(changed.map(([key, value]) => [key, String(value)])).toString();
}
