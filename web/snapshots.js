// Maps of fixed sentences saved along training, with a slider to watch alignment being learned.
import { getSnapshotMap, getSnapshots } from './api.js';
import { element, field, fillSelect, player } from './dom.js';
import { Figure } from './figure.js';
import { latest } from './latest.js';
import { largest, selectionOf, titleOf } from './maps.js';
import { axesOf, labelsOf, pairOf } from './pairs.js';
import { headOptions } from './picker.js';

const pace = 500; // milliseconds a snapshot

/** @param {import('./main.js').App} app */
export function snapshots(app) {
  const { store } = app;
  const choose = (key) =>
    element('select', { onchange: ({ target }) => store.set({ [key]: target.value }) });
  const [layer, head] = [choose('layer'), choose('head')];
  const sentence = element('select', {
    onchange: ({ target }) => store.set({ sentence: Number(target.value) }),
  });
  const slider = element('input', {
    type: 'range',
    min: 0,
    'aria-label': 'Snapshot',
    oninput: () => store.set({ snapshot: Number(slider.value) }),
  });
  const place = element('output', { className: 'place' });
  const play = player(() => {
    if (!saved?.steps.length) return false;
    const last = saved.steps.length - 1;
    store.set({ snapshot: placeNow() >= last ? 0 : placeNow() + 1 });
    return placeNow() < last;
  }, pace);
  const figure = new Figure('Attention at a step of training', app, { tallest: 0.6 });
  const node = element(
    'section',
    { hidden: true, 'aria-label': 'Snapshots' },
    element('h2', {}, 'How attention was learned'),
    element(
      'div',
      { className: 'picker' },
      field('Sentence', sentence),
      field('Layer', layer),
      field('Head', head),
    ),
    element('div', { className: 'transport' }, play.button, slider, place),
    figure.node,
  );
  // It asks again while training goes on.
  const quietly = { fail: app.fail, hideNotice() {}, waitFor: (promise) => promise };
  const loadList = latest(quietly, () => (node.hidden = true));
  const loadMap = latest(app, () => figure.clear());
  let [saved, model] = [null, null];

  const placeNow = () => {
    const { snapshot } = store.state;
    return snapshot < 0 || snapshot >= saved.steps.length ? saved.steps.length - 1 : snapshot;
  };
  const show = () => {
    const { state } = store;
    const layers = saved.layers;
    const chosen =
      layers.find(({ name }) => name === state.layer) ??
      layers.findLast(({ queries, keys }) => queries !== keys) ??
      layers[0];
    const selection = selectionOf(
      { layers },
      { pair: pairOf(chosen), layer: chosen.name, head: state.head },
    );
    const index = Math.max(0, Math.min(state.sentence, saved.sentences.length - 1));
    const { sequences } = saved.sentences[index];
    fillSelect(
      sentence,
      saved.sentences.map(({ text }, i) => [String(i), text]),
      String(index),
    );
    fillSelect(
      layer,
      layers.map(({ name }) => [name, name]),
      chosen.name,
    );
    fillSelect(head, headOptions({ layers }, chosen.name), selection.head);
    const step = saved.steps[placeNow()];
    slider.max = saved.steps.length - 1;
    slider.value = placeNow();
    place.textContent = `step ${step}`;
    const query = { step, sentence: index, layer: chosen.name, head: selection.head };
    loadMap(
      JSON.stringify([app.model.id, query]),
      () => getSnapshotMap(app.model.id, query),
      ({ values }) =>
        figure.show({
          title: `${titleOf(selection)}, step ${step}`,
          ...labelsOf(sequences, selection.pair),
          values,
          most: largest(values),
          signed: values.some((value) => value < 0),
          axes: axesOf(app.model, selection.pair),
        }),
    );
  };
  const forget = () => {
    saved = null;
    node.hidden = true;
    figure.clear();
    loadList.drop();
    loadMap.drop();
  };
  /** Asks for the maps that training has stored by a step of it. */
  const refresh = (step) => {
    const { id } = app.model;
    loadList(
      `${id} at ${step}`,
      () => getSnapshots(id),
      (list) => {
        saved = list;
        node.hidden = !list.steps.length;
        if (list.steps.length) show();
      },
    );
  };
  return {
    node,
    draw: () => figure.draw(),
    update() {
      if (model === app.model) return saved?.steps.length && show();
      model = app.model;
      forget();
      refresh(0);
    },
    refresh,
    /** The map under the slider, if there is one. */
    shown: () => (node.hidden || !figure.map ? [] : [figure.map]),
    leave() {
      play.stop();
      loadList.drop();
      loadMap.drop();
    },
    play: play.toggle,
  };
}
