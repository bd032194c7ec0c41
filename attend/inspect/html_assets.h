// The style sheet and the script of a page of heat maps (html_map.h). Not for use outside inspect/.
#pragma once

#include <string_view>

namespace attend {

inline constexpr std::string_view kHtmlStyle = R"css(
:root { color-scheme: light dark; }
body {
  margin: 0 auto; padding: 12px; max-width: 1300px;
  font: 15px/1.5 system-ui, sans-serif; background: #fff; color: #222;
}
h1 { margin: 0; font-size: 1.2rem; overflow-wrap: anywhere; }
.note { margin: 4px 0 8px; max-width: 46em; color: #555; }
output {
  position: sticky; top: 0; z-index: 1; display: block; min-height: 1.5em; padding: 4px 0;
  background: #fff; font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
.scroll { overflow: auto; }
svg { display: block; }
.map:focus { outline: none; }
.map:focus .edge { stroke: #1769d2; stroke-width: 2; }
.row, .column { cursor: default; }
text.on { font-weight: 700; }
.cross { fill: none; stroke: #d2571a; stroke-width: 1.5; pointer-events: none; }
@media (prefers-color-scheme: dark) {
  body, output { background: #1b1b1f; color: #ddd; }
  .note { color: #aaa; }
  .map:focus .edge { stroke: #7db4ff; }
  .cross { stroke: #ff9d5c; }
}
)css";

inline constexpr std::string_view kHtmlScript = R"js(
'use strict';
const maps = JSON.parse(document.getElementById('maps').textContent);
const output = document.querySelector('output');

/** The values of a map: zlib, little-endian int16, in parts of `unit`. */
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Int16Array(await new Response(stream).arrayBuffer());
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

/** A label that keeps its own direction, and its place. */
function named(labels, index) {
  return [element('bdi', labels[index]), ` (${index + 1})`];
}

/** Shows such as "house (2) -> Haus (3): 0.9000". */
function say(from, word, to, value) {
  const parts = [...from, word, ...to];
  if (value !== undefined) parts.push(': ', element('b', value.toFixed(4)));
  output.replaceChildren(...parts);
}

class MapView {
  constructor(group, map) {
    this.group = group;
    this.map = map;
    this.cells = group.querySelector('.cells');
    this.size = Number(group.dataset.cell);
    this.at = { row: 0, column: 0 };
    unpack(map.values).then((values) => { this.values = values; });
    this.bands = ['row', 'column'].map(() => {
      const band = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
      band.setAttribute('class', 'cross');
      return band;
    });
    group.addEventListener('pointermove', (event) => this.point(event));
    group.addEventListener('pointerdown', (event) => this.point(event));
    group.addEventListener('pointerleave', () => this.clear());
    group.addEventListener('focus', () => this.show(this.at.row, this.at.column));
    group.addEventListener('blur', () => this.clear());
    group.addEventListener('keydown', (event) => this.key(event));
  }

  value(row, column) {
    return this.values && this.values[row * this.map.columns.length + column] * this.map.unit;
  }

  /** Marks a row, a column, or with both a cell. */
  show(row, column) {
    this.clear();
    const { rows, columns } = this.map;
    this.mark(this.bands[0], row, { x: 0, y: row, width: columns.length, height: 1 });
    this.mark(this.bands[1], column, { x: column, y: 0, width: 1, height: rows.length });
    for (const [kind, index] of [['row', row], ['column', column]]) {
      this.group.querySelector(`text.${kind}[data-index="${index}"]`)?.classList.add('on');
    }
    if (row !== undefined && column !== undefined) {
      this.at = { row, column };
      say(named(rows, row), ' → ', named(columns, column), this.value(row, column));
    } else if (row !== undefined) {
      const best = this.largest(columns.length, (i) => this.value(row, i));
      say(named(rows, row), ' looks most at ', named(columns, best), this.value(row, best));
    } else {
      const best = this.largest(rows.length, (i) => this.value(i, column));
      const value = this.value(best, column);
      say(named(columns, column), ' is looked at most by ', named(rows, best), value);
    }
  }

  largest(count, value) {
    let best = 0;
    for (let i = 1; i < count; ++i) if (Math.abs(value(i)) > Math.abs(value(best))) best = i;
    return best;
  }

  mark(band, index, box) {
    if (index === undefined) return;
    for (const [name, cells] of Object.entries(box)) band.setAttribute(name, cells * this.size);
    this.cells.append(band);
  }

  clear() {
    for (const band of this.bands) band.remove();
    for (const label of this.group.querySelectorAll('.on')) label.classList.remove('on');
  }

  point(event) {
    const index = Number(event.target.dataset.index);
    if (event.target.matches('.row')) return this.show(index, undefined);
    if (event.target.matches('.column')) return this.show(undefined, index);
    if (!event.target.closest('.cells')) return this.clear();
    const { x, y } = new DOMPoint(event.clientX, event.clientY)
      .matrixTransform(this.cells.getScreenCTM().inverse());
    this.showNearest(y / this.size, x / this.size);
  }

  showNearest(row, column) {
    const inside = (place, labels) => Math.max(0, Math.min(labels.length - 1, Math.floor(place)));
    this.show(inside(row, this.map.rows), inside(column, this.map.columns));
  }

  key(event) {
    let { row, column } = this.at;
    switch (event.key) {
      case 'ArrowUp': row -= 1; break;
      case 'ArrowDown': row += 1; break;
      case 'ArrowLeft': column -= 1; break;
      case 'ArrowRight': column += 1; break;
      case 'Home': column = 0; break;
      case 'End': column = Infinity; break;
      case 'Escape': return this.clear();
      default: return;
    }
    event.preventDefault();
    this.showNearest(row, column);
    this.bands[0].scrollIntoView({ block: 'nearest', inline: 'nearest' });
    this.bands[1].scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }
}

document.querySelectorAll('.map').forEach((group, i) => {
  if (group.querySelector('.cells')) new MapView(group, maps[i]);
});
)js";

}  // namespace attend
