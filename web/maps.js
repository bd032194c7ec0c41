// Maps with their labels, as the views draw them; what was fetched is kept for a while.
import { getLabels, getMap, getSaliency } from './api.js';

/**
 * A matrix to be drawn, with what its rows and columns are. `most` is the |value| of the darkest
 * colour; `isSelf`: a sequence looks at itself; `room`: rows to leave room for while it grows;
 * `isNamed`: its labels are for the eye already; `marked`: a row to be marked in a saved picture.
 * @typedef {{title: string, rows: string[], columns: string[], values: Float32Array, most: number,
 *   signed?: boolean, isSelf?: boolean, room?: number, isNamed?: boolean,
 *   marked?: number}} HeatMap
 */
/** @typedef {{part: string, layer: string, head: string}} Selection */

export const parts = {
  cross: 'output to input',
  encoder: 'input to itself',
  decoder: 'output to itself',
};

/** All layers of a part together. */
const reductions = ['mean', 'rollout', 'flow'];

/** The parts a model has, those that say most first. */
export function partsOf(model) {
  return Object.keys(parts).filter((part) => model.layers.some((layer) => layer.part === part));
}

/** The layers of a part of a model. */
export function layersOf(model, part) {
  return model.layers.filter((layer) => layer.part === part);
}

/**
 * What of a model the state selects, made valid: a link may name a layer of another model.
 * @returns {Selection}
 */
export function selectionOf(model, { part, layer, head }) {
  const owned = partsOf(model);
  const chosen = model.layers.find(({ name }) => name === layer);
  const validPart = chosen?.part ?? (owned.includes(part) ? part : owned[0]);
  if (!chosen)
    return {
      part: validPart,
      layer: reductions.includes(layer) ? layer : 'mean',
      head: 'mean',
    };
  const isHead =
    head === 'mean' || head === 'max' || (/^\d+$/.test(head) && Number(head) < chosen.heads);
  return { part: validPart, layer, head: isHead ? head : 'mean' };
}

/** What a selection is called. */
export function titleOf({ part, layer, head }) {
  if (layer === 'mean') return `${parts[part]}, mean of all layers`;
  if (layer === 'rollout' || layer === 'flow') return `${parts[part]}, attention ${layer}`;
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
  const { part, layer, head } = selection;
  const along = path && path !== idsOf(run.path()) ? { path } : {};
  const what = reductions.includes(layer) ? { reduction: layer, part } : { layer, head };
  const query = { ...what, ...along };
  // The labels are asked for at once with the map, not after it.
  const [map, labels] = await Promise.all([
    cached(run, query, () => getMap(run.number, query)),
    getLabels(run.number, part, path),
  ]);
  const rows = part === 'cross' ? writtenRows(run.path(path), labels.rows) : labels.rows;
  return labelled(map, rows, labels.columns, titleOf(selection));
}

/**
 * How much each input token moved each output token.
 * @param {import('./run.js').Run} run
 * @param {'gradient'|'integrated'} method
 * @param {string} path ids of another hypothesis
 * @param {function(HeatMap): void} onRows called with the map so far, as it grows
 * @param {AbortSignal} signal
 * @returns {Promise<HeatMap>}
 */
export async function loadSaliency(run, method, path, onRows, signal) {
  const query = { method, ...(path && { path }) };
  const title = method === 'gradient' ? 'gradient × input' : 'integrated gradients';
  const labels = await getLabels(run.number, 'cross', path);
  const named = (weights) => ({
    ...labelled(weights, writtenRows(run.path(path), labels.rows), labels.columns, title),
    signed: true,
  });
  const grow = (weights) => onRows({ ...named(weights), room: weights.room });
  const ask = () => getSaliency(run.number, query, grow, signal);
  return named(await cached(run, query, ask));
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

/** The server ends every output; one that was pruned or cut short wrote no end. */
function writtenRows(path, rows) {
  const isUnwritten = path.length && rows.length === path.length + 1 && rows.at(-1) === '</s>';
  return isUnwritten ? rows.slice(0, -1) : rows;
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
