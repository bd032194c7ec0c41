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

const hints = {
  both:
    'Saliency is how much each input token moved each output token, attention where the model ' +
    'looked. Where they differ, neither alone explains the output.',
  alone: 'How much each input token moved each output token.',
};

/** @param {import('./main.js').App} app */
export function saliencyView(app) {
  const { store } = app;
  const kind = choice('Saliency', kinds, (saliency) => store.set({ saliency }));
  const hint = element('p', { className: 'hint' });
  const panels = new Panels(['Saliency', 'Attention'], (row, column) => store.set({ row, column }));
  const load = latest(app, () => panels.show([], -1, -1));
  const show = (maps) => {
    const { row, column } = store.state;
    hint.textContent = maps.length > 1 ? hints.both : hints.alone;
    const shown = maps.map((map) => ({ map }));
    panels.show(shown, row, column);
  };
  return {
    controls: kind.node,
    node: element('div', {}, hint, panels.node),
    draw: () => panels.draw(),
    update() {
      const { run, selection } = app;
      const { saliency, path, row, column } = store.state;
      kind.choose(saliency);
      panels.pin(row, column);
      if (!run.done) return load.drop();
      const beside = selection.part ? [selection] : []; // a model of labels has no such part
      load(
        JSON.stringify([run.id, saliency, beside, path]),
        () =>
          Promise.all([
            loadSaliency(run, saliency, path),
            ...beside.map((selection) => loadMap(run, selection, path)),
          ]),
        show,
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
