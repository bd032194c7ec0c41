// Runs of sentences: the one on the page, begun anew when the state asks for another, and those
// beside it.
import { ApiError, postRun } from './api.js';
import { Run } from './run.js';
import { numbersIn } from './state.js';

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
    const run = request.source ? new Run(model, request.source) : null;
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
      const run = new Run(model, request.source);
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

function requestOf(model, { source, target, start, startIds, beam, top }) {
  const beginning = startIds ? { start_ids: numbersIn(startIds) } : { start };
  return { model: model.id, source, target: target || null, ...beginning, beam, top };
}
