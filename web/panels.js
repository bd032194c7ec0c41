// Maps side by side whose cursors move together.
import { element } from './dom.js';
import { legend } from './legend.js';
import { Matrix } from './matrix.js';
import { weight } from './numbers.js';
import { mostOf, noRoom, roomForLabels, shortLabels } from './paint.js';

/**
 * One of several maps. `at` gives its rows and columns for those of the first, some of which may
 * have none; without it they are the same.
 * @typedef {{map: import('./maps.js').HeatMap, at?: {rows: number[], columns: number[]}}} Panel
 */

/** A row of maps with one cursor. */
export class Panels {
  #pinned = { i: 0, row: -1, column: -1 }; // in which panel, and where

  /**
   * @param {string[]} names what each is, for those who do not see it
   * @param {function(number, number): void} onPin with the row and column of the first map; -1
   *   where it has none
   */
  constructor(names, onPin) {
    /** @type {Panel[]} */
    this.panels = [];
    this.figures = names.map((name, i) => {
      const matrix = new Matrix(name, {
        tallest: 0.6,
        onPoint: (row, column) => this.#point({ i, row, column }),
        onPin: (row, column) => {
          this.#pinned = { i, row, column };
          onPin(...this.#ofFirst(this.#pinned));
        },
      });
      const [title, value, scale] = [element('span'), element('output'), legend()];
      const node = element(
        'figure',
        {},
        element('figcaption', {}, title, value),
        matrix.node,
        scale.node,
      );
      return { node, matrix, title, value, scale };
    });
    this.node = element(
      'div',
      { className: 'panels' },
      ...this.figures.map((figure) => figure.node),
    );
  }

  /** @param {Panel[]} panels one for each name; fewer hide the last ones */
  show(panels, row, column) {
    this.panels = panels;
    const margins = panels
      .map(({ map }) => roomForLabels(shortLabels(map), map.axes))
      .reduce(mostOf, noRoom);
    this.figures.forEach((figure, i) => {
      figure.node.hidden = !panels[i];
      if (!panels[i]) return;
      figure.title.textContent = panels[i].map.title;
      figure.matrix.margins = margins;
      figure.matrix.show(panels[i].map);
      figure.scale.show(panels[i].map);
    });
    this.pin(row, column);
  }

  /** Keeps the cursor on a cell of the first map; on one that it does not have, if that was chosen. */
  pin(row, column) {
    const known = this.panels[this.#pinned.i] ? this.#ofFirst(this.#pinned) : [];
    if (known[0] !== row || known[1] !== column) this.#pinned = { i: 0, row, column };
    this.panels.forEach((_, i) => this.figures[i].matrix.pin(...this.#placeIn(i, this.#pinned)));
    this.#point(this.#pinned);
  }

  draw() {
    this.figures.forEach(({ matrix, scale }, i) => {
      matrix.draw();
      if (this.panels[i]) scale.show(this.panels[i].map);
    });
  }

  #point(cell) {
    this.panels.forEach((panel, i) => {
      const { matrix, value } = this.figures[i];
      const [mine, across] = this.#placeIn(i, cell);
      matrix.point(mine, across);
      const inside =
        mine >= 0 &&
        across >= 0 &&
        mine < panel.map.rows.length &&
        across < panel.map.columns.length;
      value.textContent = inside
        ? weight(panel.map.values[mine * panel.map.columns.length + across])
        : '';
    });
  }

  #ofFirst({ i, row, column }) {
    const { at } = this.panels[i];
    return at ? [at.rows.indexOf(row), at.columns.indexOf(column)] : [row, column];
  }

  #placeIn(i, cell) {
    if (i === cell.i) return [cell.row, cell.column];
    const [row, column] = this.#ofFirst(cell);
    const { at } = this.panels[i];
    return at ? [at.rows[row] ?? -1, at.columns[column] ?? -1] : [row, column];
  }
}
