// The HTTP interface of `attend explore`: JSON, maps as octets, and a run as a stream of lines.

import { authorization } from './token.js';

/** What the server refused, in words for a person. Status 0: it did not answer at all. */
export class ApiError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/**
 * An attention layer, and which sequence looks at which in it.
 * @typedef {{name: string, queries: string, keys: string, heads: number}} Layer
 */
/**
 * What a model reads or writes; `tokenizer` is its kind, empty for numbers.
 * @typedef {{name: string, kind: string, tokenizer: string, written: boolean}} Column
 */
/**
 * @typedef {{id: number, name: string, shortName: string, kind: string, parameters: number,
 *   writes: boolean, embeds: boolean, words: boolean, sequences: Column[], joined: ?string, layers: Layer[], lens: boolean,
 *   masked: boolean, snapshots: number, examples: string[][]}} Model
 */
/** @typedef {import('./pairs.js').Sequence} Sequence */
/**
 * A map; `room`, where it is still growing, is for the rows of all of it.
 * @typedef {{rows: number, columns: number, values: Float32Array, room?: number}} Weights
 */

/**
 * What the page opens with: a lesson, say. The state is as an address has it.
 * @typedef {{title: string, text: string, inputs: string[], state: Object<string, string>}} Guide
 */

/** @returns {Promise<{version: string, models: Model[], guide: ?Guide, note: string}>} */
export const getModels = () => getJson('api/models');

/**
 * What was read and written; `path` as of another hypothesis.
 * @returns {Promise<{sequences: Sequence[]}>}
 */
export const getSequences = (run, path = '') =>
  getJson(`api/runs/${run}/sequences?${new URLSearchParams({ path })}`);

/** @returns {Promise<{next: number, lines: Object[]}>} */
export const getTraining = (model, from) => getJson(`api/training/${model}?from=${from}`);

/**
 * @returns {Promise<{steps: number[], layers: Layer[],
 *   sentences: Array<{text: string, sequences: Sequence[]}>}>}
 */
export const getSnapshots = (model) => getJson(`api/snapshots/${model}`);

/** @returns {Promise<Weights>} */
export const getMap = (run, query) =>
  getWeights(`api/runs/${run}/map?${new URLSearchParams(query)}`);

/** @returns {Promise<Weights>} */
export const getSnapshotMap = (model, query) =>
  getWeights(`api/snapshots/${model}/map?${new URLSearchParams(query)}`);

/** What each layer would write next. @returns {Promise<import('./lens.js').Lens>} */
export const getLens = (run, path = '') =>
  getJson(`api/runs/${run}/lens?${new URLSearchParams({ path })}`);

/**
 * What became of the model `base` in that of a run: how much the weights of each layer changed, and
 * the cosines of each token's vectors after each stage.
 * @returns {Promise<import('./change.js').Change>}
 */
export const getChange = (run, base) =>
  getJson(`api/runs/${run}/change?${new URLSearchParams({ base })}`);

/**
 * How much each token of a sequence speaks for each label, the most probable label first.
 * @returns {Promise<{labels: Array<{label: string, probability: number}>, sequence: string,
 *   items: string[], values: number[][]}>}
 */
export const getLabels = (run, query) =>
  getJson(`api/runs/${run}/labels?${new URLSearchParams(query)}`);

/**
 * What a masked language model would write at each place.
 * @returns {Promise<{places: import('./masked.js').Place[]}>}
 */
export const getMasked = (run, top) =>
  getJson(`api/runs/${run}/masked?${new URLSearchParams({ top })}`);

/**
 * The arithmetic of a cell in one head; without a head, the weights of several there.
 * @returns {Promise<import('./arithmetic.js').Cell|{heads: Array<{layer: string, head: number,
 *   weight: number}>}>}
 */
export const getCell = (run, query) =>
  getJson(`api/runs/${run}/cell?${new URLSearchParams(query)}`);

/**
 * Small maps of all heads of the layers of a pair, and the entropy of each head.
 * @param {import('./pairs.js').Ends} ends
 * @returns {Promise<{layers: number, heads: number, rows: number, columns: number,
 *   entropies: Float32Array, values: Uint8Array}>}
 */
export async function getThumbnails(run, ends, size, path = '') {
  const query = new URLSearchParams({ ...ends, size, path });
  const response = await request(`api/runs/${run}/thumbnails?${query}`);
  const buffer = await response.arrayBuffer();
  const [layers, heads, rows, columns] = new Uint32Array(buffer, 0, 4);
  const entropies = new Float32Array(buffer, 16, layers * heads);
  const values = new Uint8Array(buffer, 16 + entropies.byteLength);
  return { layers, heads, rows, columns, entropies, values };
}

/**
 * How much each token of a sequence moved each token of the output.
 * @param {function(Weights): void} onRows called with the rows that are known, when there are more
 * @param {AbortSignal} signal
 * @returns {Promise<Weights>}
 */
export async function getSaliency(run, query, onRows, signal) {
  const address = `api/runs/${run}/saliency?${new URLSearchParams(query)}`;
  const reader = (await request(address, { signal })).body.getReader();
  let octets = new Uint8Array();
  for (;;) {
    const { value, done } = await next(reader);
    if (done) break;
    octets = joined(octets, value);
    if (octets.length >= 8) onRows(wholeRows(octets.buffer));
  }
  const weights = wholeRows(octets.buffer);
  if (weights.rows < weights.room)
    throw new ApiError('The explorer stopped in the middle of the map.', 0);
  return weights;
}

function joined(first, second) {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** The rows that have come of a map; `room` is for all of them. */
function wholeRows(buffer) {
  const [room, columns] = new Uint32Array(buffer, 0, 2);
  const rows = Math.floor((buffer.byteLength - 8) / (4 * columns));
  return { rows, columns, values: new Float32Array(buffer, 8, rows * columns), room };
}

/**
 * Runs a sentence, and gives its events as they come.
 * @param {{model: number, texts: Object<string, string>, output: ?string, start?: string,
 *   start_ids?: number[], beam: number, top: number, most: ?number, temperature?: number,
 *   seed?: number,
 *   knocked_out: import('./knock_out.js').Head[]}} body
 * @param {AbortSignal} signal
 */
export const postRun = (body, signal) => post('api/runs', body, signal);

/**
 * Vectors as points of a plane; calls `onProgress` meanwhile.
 * @param {{model: number, of: 'texts'|'words'|'lines', lines?: string, method: 'pca'|'tsne',
 *   perplexity: number, most: number}} body
 * @param {function({what: string, done: number, of: number}): void} onProgress
 * @param {AbortSignal} signal
 * @returns {Promise<import('./embeddings.js').PointMap>}
 */
export async function postPoints(body, onProgress, signal) {
  for await (const event of post('api/points', body, signal)) {
    if (event.event === 'error') throw new ApiError(event.error, 400);
    if (event.event === 'done') return event;
    onProgress(event);
  }
  throw new ApiError('The explorer stopped before the picture was ready.', 0);
}

/** Lines of JSON, as they come. */
async function* post(address, body, signal) {
  const response = await request(address, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await next(reader);
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    for (const line of lines) if (line) yield JSON.parse(line);
  }
}

/** What comes next of a body. */
const next = (reader) => reader.read().catch((error) => Promise.reject(translate(error)));

async function request(address, { headers, ...options } = {}) {
  const response = await fetch(address, {
    ...options,
    headers: { ...headers, ...authorization() },
  }).catch((error) => Promise.reject(translate(error)));
  if (response.ok) return response;
  const { error } = await response.json().catch(() => ({ error: response.statusText }));
  throw new ApiError(error, response.status);
}

async function getJson(address) {
  return (await request(address)).json();
}

async function getWeights(address) {
  const buffer = await (await request(address)).arrayBuffer();
  const [rows, columns] = new Uint32Array(buffer, 0, 2);
  return { rows, columns, values: new Float32Array(buffer, 8) };
}

function translate(error) {
  return error.name === 'AbortError' ? error : new ApiError('The explorer is not responding.', 0);
}
