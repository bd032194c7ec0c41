// Heads that are switched off: which they are, and what the model writes without them.
import { element } from './dom.js';
import { latest } from './latest.js';
import { showOutputs } from './outputs.js';

/** @typedef {{layer: string, head: number}} Head */

/**
 * The heads of a list such as "decoder.0.cross:1,decoder.1.self:0" that a model has.
 * @param {import('./api.js').Model} model
 * @param {string} out
 * @returns {Head[]}
 */
export function headsIn(model, out) {
  if (!out) return [];
  return out
    .split(',')
    .map((text) => /^(.+):(\d+)$/.exec(text))
    .filter(Boolean)
    .map(([, layer, head]) => ({ layer, head: Number(head) }))
    .filter(({ layer, head }) =>
      model.layers.some(({ name, heads }) => name === layer && head < heads),
    );
}

/** The list with a head that was not in it, or without one that was. */
export function toggled(model, out, layer, head) {
  const heads = headsIn(model, out);
  const isSame = (other) => other.layer === layer && other.head === head;
  const next = heads.some(isSame)
    ? heads.filter((other) => !isSame(other))
    : [...heads, { layer, head }];
  return next.map((each) => `${each.layer}:${each.head}`).join(',');
}

/** Heads in words, those of a layer together: "decoder.0.cross heads 1 and 3". */
export function nameOfHeads(heads) {
  const layers = [...new Set(heads.map(({ layer }) => layer))];
  return layers
    .map((layer) => {
      const numbers = heads.filter((each) => each.layer === layer).map(({ head }) => head);
      return `${layer} head${numbers.length > 1 ? 's' : ''} ${numbers.join(', ')}`;
    })
    .join('; ');
}

/**
 * What is written with all heads, and without those that are off; nothing while all are on.
 * @param {import('./main.js').App} app
 */
export function withoutHeads(app) {
  const { store } = app;
  const title = element('h3');
  const outputs = [0, 1].map(() => element('p', { className: 'flow', dir: 'auto' }));
  const names = ['with all heads', 'without'].map((name) => element('dt', {}, name));
  const compare = element(
    'button',
    { type: 'button', onclick: () => store.set({ view: 'compare', compare: 'without' }) },
    'Compare maps',
  );
  const back = element(
    'button',
    { type: 'button', onclick: () => store.set({ out: '' }) },
    'Switch all heads on',
  );
  const same = element('p', { className: 'hint', hidden: true }, 'The output is the same.');
  const texts = outputs.map((output) => element('dd', {}, output));
  const node = element(
    'section',
    { className: 'without', hidden: true, 'aria-live': 'polite' },
    title,
    element('dl', {}, names[0], texts[0], names[1], texts[1]),
    same,
    element('p', { className: 'buttons' }, compare, back),
  );
  const clear = () => {
    same.hidden = true;
    outputs.forEach((output) => output.replaceChildren());
  };
  const load = latest(app, clear);
  return {
    node,
    /** Follows the state; `use` gets the run without the heads, or null where all are on. */
    update(use) {
      const { run, model } = app;
      const heads = headsIn(model, store.state.out);
      node.hidden = !heads.length;
      if (!run.done || !heads.length) {
        load.reset();
        return use(null);
      }
      title.textContent = `Without ${nameOfHeads(heads)}`;
      const { path, source, out } = store.state;
      load(
        JSON.stringify([run.id, path, out]),
        () => app.sideRun(model, source, out),
        (other) => {
          showOutputs(outputs, [
            { run, path },
            { run: other, path: '' },
          ]);
          same.hidden = run.text(path) !== other.text();
          use(other);
        },
      );
    },
    leave: load.drop,
  };
}
