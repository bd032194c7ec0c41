// The panel beside a map: the weight under the cursor, and the largest of its row and column.
import { element } from './dom.js';
import { weight } from './numbers.js';
import { tokenText } from './tokens.js';

const listed = 6;

/** What the cursor points at, in words and bars. Nothing in it changes size while one hovers. */
export class Readout {
  /**
   * @param {string} hint shown while nothing is pointed at
   * @param {boolean} [ofCells] whether single weights are pointed at, not only rows and columns
   */
  constructor(hint, ofCells = true) {
    this.hint = hint;
    this.ofCells = ofCells;
    this.pair = element('p', { className: 'pair' });
    this.value = element('output', { className: 'value', hidden: !ofCells });
    this.looks = barList('attends to');
    this.seen = barList('is attended to by');
    this.node = element(
      'aside',
      { className: 'readout', 'aria-label': 'Weight under the cursor' },
      this.value,
      this.pair,
      this.looks.node,
      this.seen.node,
    );
    this.show(null, -1, -1);
  }

  /**
   * Shows a cell, or a row or a column alone when the other is -1.
   * @param {?import('./maps.js').HeatMap} map
   */
  show(map, row, column) {
    if (!map || row >= map.rows.length || column >= map.columns.length) [row, column] = [-1, -1];
    const [hasRow, hasColumn] = [row >= 0, column >= 0];
    this.node.classList.toggle('empty', !hasRow && !hasColumn);
    this.value.textContent =
      hasRow && hasColumn ? weight(map.values[row * map.columns.length + column]) : '';
    this.pair.replaceChildren(...this.#words(map, row, column));
    this.looks.show(hasRow ? rank(map, row, true) : [], map);
    this.seen.show(hasColumn ? rank(map, column, false) : [], map);
  }

  #words(map, row, column) {
    if (!this.ofCells && row >= 0) column = -1;
    const words = [];
    if (row >= 0) words.push(element('bdi', {}, tokenText(map.rows[row], false)));
    if (row >= 0 && column >= 0) words.push(' → ');
    if (column >= 0) words.push(element('bdi', {}, tokenText(map.columns[column], false)));
    return words.length ? words : [this.hint];
  }
}

/** The largest weights of a row, or of a column, with their tokens. */
function rank(map, index, isRow, most = listed) {
  const columns = map.columns.length;
  const labels = isRow ? map.columns : map.rows;
  const ranked = [];
  for (let i = 0; i < labels.length; ++i) {
    const value = map.values[isRow ? index * columns + i : i * columns + index];
    const size = Math.abs(value);
    if (ranked.length === most && size <= Math.abs(ranked[most - 1].value)) continue;
    const place = ranked.findIndex((entry) => Math.abs(entry.value) < size);
    ranked.splice(place < 0 ? ranked.length : place, 0, { token: labels[i], value });
    ranked.length = Math.min(most, ranked.length);
  }
  return ranked;
}

function barList(title) {
  const rows = Array.from({ length: listed }, () => {
    const [name, bar, value] = [element('bdi'), element('i'), element('span')];
    return { node: element('li', {}, name, bar, value), name, bar, value };
  });
  const node = element(
    'section',
    {},
    element('h3', {}, title),
    element('ol', {}, ...rows.map((row) => row.node)),
  );
  const show = (entries, map) => {
    node.classList.toggle('off', !entries.length);
    rows.forEach((row, i) => {
      const entry = entries[i];
      row.node.classList.toggle('off', !entry);
      if (!entry) return;
      row.name.textContent = tokenText(entry.token, false);
      row.value.textContent = weight(entry.value);
      row.bar.className = entry.value < 0 ? 'negative' : '';
      row.bar.style.transform = `scaleX(${Math.abs(entry.value) / (map.most || 1)})`;
    });
  };
  return { node, show };
}
