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

/** The pairs a model has, those of two sequences first. */
export function pairsOf({ layers }) {
  const pairs = [...new Set(layers.map(pairOf))];
  return [...pairs.filter((pair) => !isSelf(pair)), ...pairs.filter(isSelf)];
}

/** The layers of a pair of a model. */
export function layersOf({ layers }, pair) {
  return layers.filter((layer) => pairOf(layer) === pair);
}

/** The sequence, or the label, that a model writes; undefined where it writes nothing. */
export function writtenBy({ sequences }) {
  return sequences.find(({ written }) => written)?.name;
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
