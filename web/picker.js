// Choosing a pair of sequences, a layer and a head of a model.
import { element, field, fillSelect } from './dom.js';
import { layersOf, nameOf, pairsOf } from './pairs.js';

/** Three selects that follow a selection and tell what is chosen. */
export class Picker {
  /** @param {function(Partial<import('./maps.js').Selection>): void} onChoose */
  constructor(onChoose) {
    const select = (choose) =>
      element('select', { onchange: (event) => choose(event.target.value) });
    this.pair = select((pair) => onChoose({ pair, layer: 'mean', head: 'mean' }));
    this.layer = select((layer) => onChoose({ pair: this.pair.value, layer }));
    this.head = select((head) => onChoose({ head }));
    this.node = element(
      'div',
      { className: 'picker' },
      field('Attention', this.pair),
      field('Layer', this.layer),
      field('Head', this.head),
    );
  }

  /**
   * @param {import('./api.js').Model} model
   * @param {import('./maps.js').Selection} selection
   */
  show(model, { pair, layer, head }) {
    fillSelect(
      this.pair,
      pairsOf(model).map((each) => [each, nameOf(each)]),
      pair,
    );
    fillSelect(this.layer, layerOptions(model, pair), layer);
    fillSelect(this.head, headOptions(model, layer), head);
    // One entry is no choice.
    for (const select of [this.pair, this.head])
      select.parentElement.hidden = select.options.length < 2;
  }
}

/**
 * The selection some layers or heads further; past the last head stands the first.
 * @param {import('./api.js').Model} model
 * @param {import('./maps.js').Selection} selection
 * @param {{layers?: number, heads?: number}} by
 */
export function stepped(model, { pair, layer, head }, { layers = 0, heads = 0 }) {
  const next = (options, value, by) => {
    const place = options.findIndex(([name]) => name === value);
    return options[(place + by + options.length) % options.length][0];
  };
  if (layers) return { pair, layer: next(layerOptions(model, pair), layer, layers), head };
  return { pair, layer, head: next(headOptions(model, layer), head, heads) };
}

/** The layers to choose from, and what can be made of all of them. */
export function layerOptions(model, pair) {
  const layers = layersOf(model, pair);
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
