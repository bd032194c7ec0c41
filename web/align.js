// Which tokens of two sequences belong together: the alignment with the fewest edits.
import { tokenTexts } from './tokens.js';

/**
 * Pairs of places in `a` and `b`, in order. Changed tokens are paired; added and removed ones are
 * not.
 * @param {string[]} a
 * @param {string[]} b
 * @returns {Array<[number, number]>}
 */
export function align(a, b) {
  const width = b.length + 1;
  const cost = new Uint16Array((a.length + 1) * width);
  for (let j = 0; j <= b.length; ++j) cost[j] = j;
  for (let i = 1; i <= a.length; ++i) {
    cost[i * width] = i;
    for (let j = 1; j <= b.length; ++j) {
      const change = cost[(i - 1) * width + j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      cost[i * width + j] = Math.min(
        change,
        cost[(i - 1) * width + j] + 1,
        cost[i * width + j - 1] + 1,
      );
    }
  }
  const pairs = [];
  for (let i = a.length, j = b.length; i > 0 && j > 0;) {
    const here = cost[i * width + j];
    if (here === cost[(i - 1) * width + j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1))
      pairs.unshift([--i, --j]);
    else if (here === cost[(i - 1) * width + j] + 1) --i;
    else --j;
  }
  return pairs;
}

/**
 * The second map minus the first, over the tokens they share.
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
  const place = (side) => ({
    rows: rows.map((pair) => pair[side]),
    columns: columns.map((pair) => pair[side]),
  });
  const map = {
    title: 'second − first',
    values,
    most,
    signed: true,
    isNamed: true,
    rows: names(rows, a.rows, b.rows),
    columns: names(columns, a.columns, b.columns),
  };
  return [
    { map: { ...a, most: scale }, at: place(0) },
    { map: { ...b, most: scale }, at: place(1) },
    { map },
  ];
}
