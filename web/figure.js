// A matrix with the scale of its colours, and what the cell under its cursor says.
import { element, isTouched } from './dom.js';
import { legend } from './legend.js';
import { Matrix } from './matrix.js';
import { weight } from './numbers.js';
import { Readout } from './readout.js';

/** One map that can be read. */
export class Figure {
  /**
   * @param {string} label what it shows, for those who do not see it
   * @param {import('./main.js').App} app
   * @param {{onPin?: function(number, number): void, onZoom?: function(): void,
   *   tallest?: number}} [options] as of the matrix
   */
  constructor(label, app, { onPin, ...options } = {}) {
    const hint = isTouched ? 'Tap a cell to read its weight.' : 'Point at a cell to read its weight, or move with the arrow keys.';
    this.readout = new Readout(hint);
    this.scale = legend();
    this.matrix = new Matrix(label, {
      ...options,
      onSpare: (width) => this.node.style.setProperty('--spare', `${width}px`),
      onPoint: (row, column) => this.readout.show(this.map, row, column),
      onPin: (row, column) => {
        onPin?.(row, column);
        if (row >= 0 && column >= 0) app.announce(describe(this.map, row, column));
      },
    });
    this.node = element(
      'div',
      { className: 'beside' },
      element('div', { className: 'stage' }, this.matrix.node, this.scale.node),
      this.readout.node,
    );
    this.clear();
  }

  /** @returns {?import('./maps.js').HeatMap} what is shown */
  get map() {
    return this.matrix.map;
  }

  /** @param {import('./maps.js').HeatMap} map */
  show(map) {
    const { row, column } = this.matrix.pinned;
    this.matrix.show(map);
    this.scale.show(map);
    this.readout.show(map, row, column);
  }

  /** Keeps the cursor on a cell; -1 for none. */
  pin(row, column) {
    this.matrix.pin(row, column);
    this.readout.show(this.map, row, column);
  }

  /** Takes the map away. */
  clear() {
    this.matrix.clear();
    this.scale.show(null);
    this.readout.show(null, -1, -1);
  }

  /** Draws again: the size or the colours have changed. */
  draw() {
    this.matrix.draw();
    this.scale.show(this.map);
  }
}

function describe(map, row, column) {
  const value = weight(map.values[row * map.columns.length + column]);
  return `${map.rows[row]} attends to ${map.columns[column]}: ${value}`;
}
