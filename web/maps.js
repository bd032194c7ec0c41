// Maps with their labels, as the views draw them; what was fetched is kept for a while.
import { getLabels, getMap, getSaliency, getSequences } from './api.js';
import { percent } from './numbers.js';
import {
  axesOf,
  breaksOf,
  endsOf,
  isBlock,
  isSelf,
  labelsOf,
  nameOf,
  pairOf,
  pairsOf,
  roleOf,
  sequenceOf,
  wholeOf,
  writtenBy,
} from './pairs.js';

/**
 * A matrix to be drawn, with what its rows and columns are. `most` is the |value| of the darkest
 * colour; `isSelf`: a sequence looks at itself; `room`: rows to leave room for while it grows;
 * `isNamed`: its labels are for the eye already; `marked`: a row to be marked in a saved picture;
 * `byRow`: each row has a scale of its own; `axes`: what rows and columns are; `breaks`: rows and columns before which a text begins.
 * @typedef {{title: string, rows: string[], columns: string[], values: Float32Array, most: number,
 *   signed?: boolean, byRow?: boolean, isSelf?: boolean, room?: number, isNamed?: boolean, marked?: number,
 *   axes?: {rows: string, columns: string},
 *   breaks?: {rows: number[], columns: number[]}}} HeatMap
 */
/**
 * A pair of sequences, and a layer and head of it; no pair where the model has no attention.
 * @typedef {{pair: ?string, layer: string, head: string}} Selection
 */

/** All layers of a pair together. */
const reductions = ['mean', 'rollout', 'flow'];

/**
 * What of a model the state selects, made valid: a link may name a layer of another model.
 * @returns {Selection}
 */
export function selectionOf(model, { pair, layer, head }) {
  const owned = pairsOf(model);
  const chosen = model.layers.find(({ name }) => name === layer);
  if (!chosen)
    return {
      pair: owned.includes(pair) ? pair : owned[0],
      layer: reductions.includes(layer) ? layer : 'mean',
      head: 'mean',
    };
  const isHead =
    head === 'mean' || head === 'max' || (/^\d+$/.test(head) && Number(head) < chosen.heads);
  const own = pairOf(chosen);
  const isOfBlock = isBlock(model, pair) && wholeOf(model, pair) === own;
  return { pair: isOfBlock ? pair : own, layer, head: isHead ? head : 'mean' };
}

/** What a selection is called. */
export function titleOf({ pair, layer, head }) {
  if (!pair) return 'no attention';
  if (layer === 'mean') return `${nameOf(pair)}, mean of all layers`;
  if (layer === 'rollout' || layer === 'flow') return `${nameOf(pair)}, attention ${layer}`;
  return /^\d+$/.test(head) ? `${layer}, head ${head}` : `${layer}, ${head} of heads`;
}

/**
 * The map a selection names, of the best hypothesis or of another.
 * @param {import('./run.js').Run} run
 * @param {Selection} selection
 * @param {string} [path] ids of the other hypothesis
 * @returns {Promise<HeatMap>}
 */
export async function loadMap(run, selection, path = '') {
  const { pair, layer, head } = selection;
  const along = path && path !== idsOf(run.path()) ? { path } : {};
  const isPart = isBlock(run.model, pair);
  const what = reductions.includes(layer)
    ? { reduction: layer, ...endsOf(pair) }
    : { layer, head, ...(isPart && endsOf(pair)) };
  const query = { ...what, ...along };
  // The labels are asked for at once with the map, not after it.
  const [map, { sequences }] = await Promise.all([
    cached(run, query, () => getMap(run.number, query)),
    getSequences(run.number, path),
  ]);
  const { rows, columns } = labelsOf(sequences, pair);
  const isOutput = !isSelf(pair) && endsOf(pair).queries === writtenBy(run.model);
  const known = isOutput ? writtenRows(run.path(path), rows) : rows;
  const { queries, keys } = endsOf(pair);
  const breaks = {
    rows: breaksOf(run.model, sequences, queries),
    columns: breaksOf(run.model, sequences, keys),
  };
  const title = isPart && !reductions.includes(layer) ? `${titleOf(selection)}, ${nameOf(pair)}` : titleOf(selection);
  return { ...labelled(map, known, columns, title), axes: axesOf(run.model, pair), breaks };
}

/**
 * How much each token of a sequence moved each token of the output.
 * @param {import('./run.js').Run} run
 * @param {'gradient'|'integrated'} method
 * @param {string} keys the sequence
 * @param {string} path ids of another hypothesis
 * @param {function(HeatMap): void} onRows called with the map so far, as it grows
 * @param {AbortSignal} signal
 * @returns {Promise<HeatMap>}
 */
export async function loadSaliency(run, method, keys, path, onRows, signal) {
  const query = { method, keys, ...(path && { path }) };
  const title = method === 'gradient' ? 'gradient × input' : 'integrated gradients';
  const { sequences } = await getSequences(run.number, path);
  const rows = writtenRows(run.path(path), sequenceOf(sequences, writtenBy(run.model)).next);
  const columns = sequenceOf(sequences, keys).items;
  const axes = { rows: roleOf(run.model, writtenBy(run.model)), columns: roleOf(run.model, keys) };
  const named = (weights) => ({ ...labelled(weights, rows, columns, title), signed: true, axes });
  const grow = (weights) => onRows({ ...named(weights), room: weights.room });
  const ask = () => getSaliency(run.number, query, grow, signal);
  return named(await cached(run, query, ask));
}

const labelTitles = {
  gradient: 'gradient × input',
  integrated: 'integrated gradients',
  'leave-out': 'leaving each token out',
};

/**
 * How much each token of a sequence speaks for each label.
 * @param {import('./run.js').Run} run
 * @param {'gradient'|'integrated'|'leave-out'} method
 * @param {string} keys the sequence
 * @param {string} path ids of another hypothesis
 * @returns {Promise<HeatMap>}
 */
export async function loadLabels(run, method, keys, path) {
  const query = { method, keys, ...(path && { path }) };
  const [{ labels, items, values }, { sequences }] = await Promise.all([
    getLabels(run.number, query),
    getSequences(run.number, path),
  ]);
  const all = Float32Array.from(values.flat());
  return {
    title: labelTitles[method],
    rows: labels.map(({ label, probability }) => `${percent(probability)} % ${label}`),
    columns: items,
    values: all,
    most: largest(all),
    signed: true,
    byRow: true,
    axes: { rows: 'label', columns: roleOf(run.model, keys) },
    breaks: { rows: [], columns: breaksOf(run.model, sequences, keys) },
  };
}

/** The largest |value| of a map. */
export function largest(values) {
  let most = 0;
  for (const value of values) most = Math.max(most, Math.abs(value));
  return most;
}

/** The ids of nodes as they stand in an address. */
export function idsOf(path) {
  return path.map((node) => node.id).join(',');
}

function labelled(weights, rows, columns, title) {
  const known = rows.slice(0, weights.rows);
  const values = weights.values.subarray(0, known.length * columns.length);
  const signed = values.some((value) => value < 0);
  return { title, rows: known, columns, values, most: largest(values), signed };
}

/** The last row of an output that was pruned or cut short is of a token that was not written. */
function writtenRows(path, rows) {
  return path.length && rows.length === path.length + 1 ? rows.slice(0, -1) : rows;
}

const mostKept = 64 << 20; // bytes

/**
 * Maps of all runs, the one that was not asked for the longest first.
 * @type {Map<string, {map: Promise<import('./api.js').Weights>, bytes: number}>}
 */
const kept = new Map();

function cached(run, query, ask) {
  const key = `${run.id} ${new URLSearchParams(query)}`;
  const entry = kept.get(key) ?? asked(key, ask);
  kept.delete(key);
  kept.set(key, entry);
  return entry.map;
}

function asked(key, ask) {
  const entry = { map: ask(), bytes: 0 };
  const keep = ({ values }) => {
    entry.bytes = values.byteLength;
    makeRoom();
  };
  entry.map.then(keep, () => kept.delete(key));
  return entry;
}

/** Lets go of maps until the others have room; the newest stays, however large. */
function makeRoom() {
  let bytes = 0;
  for (const entry of kept.values()) bytes += entry.bytes;
  for (const [key, entry] of kept) {
    if (bytes <= mostKept || kept.size === 1) return;
    kept.delete(key);
    bytes -= entry.bytes;
  }
}
