// Which sequence of a model looks at which, and what the rows and columns of its maps are.

/**
 * A sequence of a run; `next` is what was written after each item, if it was.
 * @typedef {{name: string, items: string[], next?: string[]}} Sequence
 */
/** Queries and keys: names of sequences. @typedef {{queries: string, keys: string}} Ends */

/** The pair of a layer as it stands in an address: "target/source". @param {Ends} layer */
export const pairOf = ({ queries, keys }) => `${queries}/${keys}`;

/** @param {string} pair @returns {Ends} */
export function endsOf(pair) {
  const [queries, keys] = pair.split('/');
  return { queries, keys };
}

/** Whether a sequence looks at itself. */
export function isSelf(pair) {
  const { queries, keys } = endsOf(pair);
  return queries === keys;
}

/** A pair for the eye: "target → source". */
export const nameOf = (pair) => pair.replace('/', ' → ');

/**
 * The pairs a model has, those of two sequences first; last those of the parts of a sequence that
 * several are read as.
 */
export function pairsOf(model) {
  const pairs = [...new Set(model.layers.map(pairOf))];
  return [...pairs.filter((pair) => !isSelf(pair)), ...pairs.filter(isSelf), ...blocksOf(model)];
}

/** The layers of a pair of a model; those of the whole for a pair of its parts. */
export function layersOf(model, pair) {
  const whole = wholeOf(model, pair);
  return model.layers.filter((layer) => pairOf(layer) === whole);
}

/** The parts of the sequence that a model reads all others as. */
function partsOf({ joined, sequences }) {
  return joined ? sequences.filter(({ kind }) => kind === 'tokens').map(({ name }) => name) : [];
}

/** What one part sees of another: blocks of the maps of the whole. */
function blocksOf(model) {
  const { joined, layers } = model;
  if (!layers.some((layer) => pairOf(layer) === `${joined}/${joined}`)) return [];
  const parts = partsOf(model);
  const blocks = parts.flatMap((from) => parts.map((to) => `${from}/${to}`));
  return [...blocks.filter((pair) => !isSelf(pair)), ...blocks.filter(isSelf)];
}

/** Whether a pair is a block of the maps of another. */
export const isBlock = (model, pair) => blocksOf(model).includes(pair);

/** The pair whose maps have those of a pair: mostly itself. */
export const wholeOf = (model, pair) =>
  isBlock(model, pair) ? `${model.joined}/${model.joined}` : pair;

/**
 * Before which items of a sequence a part of it begins, but the first.
 * @param {import('./api.js').Model} model
 * @param {Sequence[]} sequences
 */
export function breaksOf(model, sequences, name) {
  if (name !== model.joined) return [];
  let place = 0;
  const ends = partsOf(model).map((part) => (place += sequenceOf(sequences, part).items.length));
  return ends.slice(0, -1);
}

/** The sequence, or the label, that a model writes; undefined where it writes nothing. */
export function writtenBy({ sequences }) {
  return sequences.find(({ written }) => written)?.name;
}

/** Whether a model gives labels. */
export function givesLabels({ sequences }) {
  return sequences.some(({ kind, written }) => written && kind === 'label');
}

/** What the items of a sequence are to the model, for the eye: its input, its output, or the name. */
export function roleOf(model, name) {
  const reads = readBy(model);
  if (name === writtenBy(model)) return reads.length ? 'output' : name;
  return reads.length === 1 && name === reads[0] ? 'input' : name;
}

/** What the rows and the columns of a pair's maps are. */
export function axesOf(model, pair) {
  const { queries, keys } = endsOf(pair);
  return { rows: roleOf(model, queries), columns: roleOf(model, keys) };
}

/** The sequences that a model reads and does not write. */
export function readBy({ sequences }) {
  return sequences.filter(({ written }) => !written).map(({ name }) => name);
}

/** Whether a model continues a text: it reads nothing but what it writes. */
export function isContinuing(model) {
  return model.writes && !readBy(model).length;
}

/**
 * Rows of a pair's maps are the items of a sequence that looks at itself; of one that looks at
 * another, what was written after each of them.
 * @param {Sequence[]} sequences
 * @param {string} pair
 */
export function labelsOf(sequences, pair) {
  const { queries, keys } = endsOf(pair);
  const [from, to] = [sequenceOf(sequences, queries), sequenceOf(sequences, keys)];
  return { rows: isSelf(pair) ? from.items : (from.next ?? from.items), columns: to.items };
}

/** @param {Sequence[]} sequences */
export function sequenceOf(sequences, name) {
  return sequences.find((sequence) => sequence.name === name);
}
