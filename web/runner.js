// Runs of sentences: the one on the page, started again when the state asks for another, and those
// beside it.
import { ApiError, postRun } from './api.js';
import { headsIn } from './knock_out.js';
import { isContinuing, readBy } from './pairs.js';
import { Run } from './run.js';
import { beamOf, numbersIn, temperatureOf, textsIn } from './state.js';

/** Keeps the run that the state describes. */
export class Runner {
  #key = '';
  #abort = new AbortController();
  #side = new Map();

  /**
   * @param {{onStart: function(): void, onChange: function(): void,
   *   onFail: function(Error): void}} listeners called when another run begins, when it has
   *   grown, and when it cannot go on
   */
  constructor({ onStart, onChange, onFail }) {
    /** @type {?Run} */
    this.run = null;
    this.onStart = onStart;
    this.onChange = onChange;
    this.onFail = onFail;
  }

  /**
   * Starts the run the state describes, unless it is the one there is.
   * @param {import('./api.js').Model} model
   * @param {import('./state.js').State} state
   */
  async follow(model, state) {
    const request = requestOf(model, state);
    const key = JSON.stringify(request);
    if (key === this.#key) return;
    this.#key = key;
    this.#abort.abort();
    this.#abort = new AbortController();
    const run = state.source ? new Run(model, state.source) : null;
    this.run = run;
    this.onStart();
    this.onChange();
    if (!run) return;
    try {
      await fill(run, request, this.#abort.signal, this.onChange);
    } catch (error) {
      if (this.run === run) this.#stop(run, error);
    }
  }

  #stop(run, error) {
    run.stopped = true;
    if (!run.number) this.run = null;
    this.onChange();
    this.onFail(error);
  }

  /** Forgets all runs: they are to be made again. */
  forget() {
    this.#key = '';
    this.#side.clear();
  }

  /**
   * Another run with the same settings, to compare with.
   * @param {import('./api.js').Model} model
   * @param {import('./state.js').State} state
   * @returns {Promise<Run>}
   */
  beside(model, state) {
    const request = requestOf(model, state);
    const key = JSON.stringify(request);
    if (!this.#side.has(key)) {
      const run = new Run(model, state.source);
      const filled = fill(run, request, new AbortController().signal, () => {}).then(() => run);
      filled.catch(() => this.#side.delete(key));
      this.#side.set(key, filled);
      if (this.#side.size > 8) this.#side.delete(this.#side.keys().next().value);
    }
    return this.#side.get(key);
  }
}

async function fill(run, request, signal, onChange) {
  for await (const event of postRun(request, signal)) {
    if (signal.aborted) return;
    run.accept(event);
    onChange();
  }
  if (!run.done) throw new ApiError('The explorer stopped in the middle of the sentence.', 0);
}

/** A model that reads nothing but what it writes continues the text. */
function requestOf(model, state) {
  const { source, others, target, start, startIds, top, out, tokens, seed, halt } = state;
  const reads = readBy(model);
  const isContinued = isContinuing(model);
  const given = [source, ...textsIn(others)];
  const texts = Object.fromEntries(reads.map((name, i) => [name, given[i] ?? '']));
  const begun = startIds || reads.length ? start : source + start;
  const beginning = { start: begun, ...(startIds && { start_ids: numbersIn(startIds) }) };
  const most = halt ? 0 : isContinued ? tokens : null;
  const temperature = temperatureOf(state);
  return {
    model: model.id,
    texts,
    output: target || null,
    ...beginning,
    beam: beamOf(state, isContinued),
    top,
    most,
    ...(temperature && { temperature, seed }),
    knocked_out: headsIn(model, out),
  };
}
