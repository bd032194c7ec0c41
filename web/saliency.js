// Saliency beside attention: what moved the output, next to what was looked at.
import { choice, element } from './dom.js';
import { latest } from './latest.js';
import { loadMap, loadSaliency } from './maps.js';
import { Panels } from './panels.js';
import { heatMapSvg } from './vector.js';

const kinds = [
  ['gradient', 'gradient × input'],
  ['integrated', 'integrated gradients'],
];

/** @param {import('./main.js').App} app */
export function saliencyView(app) {
  const kind = choice('Saliency', kinds, (saliency) => app.store.set({ saliency }));
  const panels = new Panels(['Saliency', 'Attention'], (row, column) =>
    app.store.set({ row, column }),
  );
  const load = latest(app.fail);
  return {
    controls: kind.node,
    node: element(
      'div',
      {},
      element(
        'p',
        { className: 'hint' },
        'Left, how much each input token moved each output token; right, where the model ' +
          'looked. Where they differ, attention is not the explanation.',
      ),
      panels.node,
    ),
    draw: () => panels.draw(),
    update() {
      const { run, model } = app;
      const { saliency, path, row, column } = app.store.state;
      kind.choose(saliency);
      panels.pin(row, column);
      if (!run.done) return;
      const selection =
        app.selection.part === 'cross'
          ? app.selection
          : { part: 'cross', layer: 'mean', head: 'mean' };
      const hasCross = model.layers.some((layer) => layer.part === 'cross');
      load(
        JSON.stringify([run.id, saliency, selection, path]),
        () =>
          Promise.all([
            loadSaliency(run, saliency, path),
            ...(hasCross ? [loadMap(run, selection, path)] : []),
          ]),
        (maps) =>
          panels.show(
            maps.map((map) => ({ map })),
            row,
            column,
          ),
      );
    },
    export: () =>
      panels.panels.length && {
        title: 'saliency and attention',
        svg: () => heatMapSvg(panels.panels.map(({ map }) => map)),
        data: panels.panels.map(({ map }) => map),
      },
  };
}
