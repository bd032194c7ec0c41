// Which tokens of two sequences belong together.
import { tokenTexts } from './tokens.js';

/**
 * Pairs of places in `a` and `b`, in order: as many equal tokens as there can be, and between them
 * those that stand in the place of as many others. Added and removed tokens have no pair.
 * @param {string[]} a
 * @param {string[]} b
 * @returns {Array<[number, number]>}
 */
export function align(a, b) {
  const pairs = [];
  let [from, to] = [0, 0]; // after the last equal tokens
  for (const [i, j] of [...equalTokens(a, b), [a.length, b.length]]) {
    if (i - from === j - to) for (; from < i; ++from, ++to) pairs.push([from, to]);
    if (i < a.length) pairs.push([i, j]);
    [from, to] = [i + 1, j + 1];
  }
  return pairs;
}

/** The longest sequence that both have, as pairs of places. */
function equalTokens(a, b) {
  const width = b.length + 1;
  const most = new Uint16Array((a.length + 1) * width); // equal ones of all up to two places
  for (let i = 1; i <= a.length; ++i) {
    for (let j = 1; j <= b.length; ++j) {
      most[i * width + j] =
        a[i - 1] === b[j - 1]
          ? most[(i - 1) * width + j - 1] + 1
          : Math.max(most[(i - 1) * width + j], most[i * width + j - 1]);
    }
  }
  const pairs = [];
  for (let i = a.length, j = b.length; i > 0 && j > 0;) {
    if (a[i - 1] === b[j - 1]) pairs.unshift([--i, --j]);
    else if (most[(i - 1) * width + j] >= most[i * width + j - 1]) --i;
    else --j;
  }
  return pairs;
}

/**
 * The second map minus the first, over the tokens that belong together.
 * @param {import('./maps.js').HeatMap} a
 * @param {import('./maps.js').HeatMap} b
 * @returns {Array<import('./panels.js').Panel>} a, b, and the difference
 */
export function difference(a, b) {
  const rows = align(a.rows, b.rows);
  const columns = align(a.columns, b.columns);
  const values = new Float32Array(rows.length * columns.length);
  let most = 0;
  rows.forEach(([i, k], row) =>
    columns.forEach(([j, l], column) => {
      const value = b.values[k * b.columns.length + l] - a.values[i * a.columns.length + j];
      values[row * columns.length + column] = value;
      most = Math.max(most, Math.abs(value));
    }),
  );
  const names = (pairs, first, second) => {
    const [left, right] = [tokenTexts(first), tokenTexts(second)];
    return pairs.map(([i, j]) =>
      first[i] === second[j] ? left[i] : `${left[i]}/${right[j].replace(/^·/, '')}`,
    );
  };
  const scale = Math.max(a.most, b.most);
  /** What stands in another map for each place of the first. */
  const places = (pairs, placeOf) => {
    const all = [];
    pairs.forEach((pair, number) => (all[pair[0]] = placeOf(pair, number)));
    return all;
  };
  const at = (placeOf) => ({ rows: places(rows, placeOf), columns: places(columns, placeOf) });
  const map = {
    title: 'second − first',
    values,
    most: Math.max(most, scale / 1000), // what is rounding only looks like nothing
    signed: true,
    isNamed: true,
    axes: a.axes,
    rows: names(rows, a.rows, b.rows),
    columns: names(columns, a.columns, b.columns),
  };
  return [
    { map: { ...a, most: scale } },
    { map: { ...b, most: scale }, at: at(([, second]) => second) },
    { map, at: at((_, number) => number) },
  ];
}
