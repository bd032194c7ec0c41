// Choosing a part, a layer and a head of a model.
import { element, field, fillSelect } from './dom.js';
import { layersOf, parts, partsOf } from './maps.js';

/** Three selects that follow a selection and tell what is chosen. */
export class Picker {
  /** @param {function(Partial<import('./maps.js').Selection>): void} onChoose */
  constructor(onChoose) {
    const select = (choose) =>
      element('select', { onchange: (event) => choose(event.target.value) });
    this.part = select((part) => onChoose({ part, layer: 'mean', head: 'mean' }));
    this.layer = select((layer) => onChoose({ part: this.part.value, layer }));
    this.head = select((head) => onChoose({ head }));
    this.node = element(
      'div',
      { className: 'picker' },
      field('Attention', this.part),
      field('Layer', this.layer),
      field('Head', this.head),
    );
  }

  /**
   * @param {import('./api.js').Model} model
   * @param {import('./maps.js').Selection} selection
   */
  show(model, { part, layer, head }) {
    fillSelect(
      this.part,
      partsOf(model).map((name) => [name, parts[name]]),
      part,
    );
    fillSelect(this.layer, layerOptions(model, part), layer);
    fillSelect(this.head, headOptions(model, layer), head);
    this.head.parentElement.hidden = this.head.options.length < 2;
  }
}

/**
 * The selection some layers or heads further; past the last head stands the first.
 * @param {import('./api.js').Model} model
 * @param {import('./maps.js').Selection} selection
 * @param {{layers?: number, heads?: number}} by
 */
export function stepped(model, { part, layer, head }, { layers = 0, heads = 0 }) {
  const next = (options, value, by) => {
    const place = options.findIndex(([name]) => name === value);
    return options[(place + by + options.length) % options.length][0];
  };
  if (layers) return { part, layer: next(layerOptions(model, part), layer, layers), head };
  return { part, layer, head: next(headOptions(model, layer), head, heads) };
}

/** The layers to choose from, and what can be made of all of them. */
export function layerOptions(model, part) {
  const layers = layersOf(model, part);
  const reductions = [
    ['mean', 'all: mean'],
    ['rollout', 'all: rollout'],
    ['flow', 'all: flow'],
  ];
  return [...reductions, ...layers.map(({ name }) => [name, name])];
}

/** The heads to choose from. */
export function headOptions(model, layer) {
  const count = model.layers.find(({ name }) => name === layer)?.heads ?? 0;
  const heads = Array.from({ length: count }, (_, head) => [String(head), `head ${head}`]);
  return count ? [['mean', 'mean'], ['max', 'max'], ...heads] : [['mean', 'mean']];
}
