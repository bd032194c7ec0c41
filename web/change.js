// What fine-tuning changed: how far the weights of each layer moved, and the vectors of each token.
import { getChange } from './api.js';
import { element } from './dom.js';
import { latest } from './latest.js';
import { largest } from './maps.js';
import { Panels } from './panels.js';

/**
 * @typedef {{layers: Array<{name: string, parameters: number, weights: number}>, fresh: number,
 *   left: number, stages: string[], items: string[], cosines: number[][],
 *   unrelated?: string}} Change
 */

/** The section below a comparison of two models. @param {import('./main.js').App} app */
export function changeSection(app) {
  const hint = element('p', { className: 'hint' });
  const list = element('ol', { className: 'layers-changed' });
  const panels = new Panels(['Change of token vectors'], () => {});
  const node = element(
    'section',
    { className: 'change', hidden: true },
    element('h2', {}, 'What changed from the first model to the second'),
    hint,
    element('div', { className: 'changes' }, list, panels.node),
  );
  const hide = () => {
    node.hidden = true;
    list.replaceChildren();
    panels.show([], -1, -1);
  };
  hide();
  // Most pairs of models have nothing to do with each other: that is no failure.
  const quiet = { fail: hide, hideNotice() {}, waitFor: app.waitFor };
  const load = latest(quiet, hide);
  /** @param {Change} change */
  const show = (change) => {
    if (change.unrelated) return hide();
    node.hidden = false;
    const { layers, fresh, left } = change;
    const others = fresh + left ? ` ${fresh} tensors are new, ${left} were left behind.` : '';
    hint.textContent =
      'The bars are the change of the weights of each layer, relative to their length in the first ' +
      'model. The map is how far the vector of each token turned after each layer (1 − cosine).' +
      others;
    const most = Math.max(...layers.map(({ weights }) => weights)) || 1;
    list.replaceChildren(
      ...layers.map(({ name, weights }) => {
        const bar = element('i');
        bar.style.transform = `scaleX(${weights / most})`;
        return element(
          'li',
          {},
          element('span', {}, name),
          bar,
          element('span', {}, `${Number((100 * weights).toPrecision(2))} %`),
        );
      }),
    );
    panels.show(change.stages.length ? [{ map: mapOf(change) }] : [], -1, -1);
  };
  return {
    node,
    hide() {
      load.drop();
      hide();
    },
    draw: () => panels.draw(),
    /** @param {import('./run.js').Run} run of the second model */
    follow: (run, base) =>
      load(JSON.stringify([run.id, base]), () => getChange(run.number, base), show),
    leave: load.drop,
    /** The map that is shown, for a file. */
    maps: () => (node.hidden ? [] : panels.panels.map(({ map }) => map)),
  };
}

/** The last layer on top. @param {Change} change @returns {import('./maps.js').HeatMap} */
function mapOf({ stages, items, cosines }) {
  const values = Float32Array.from(
    cosines.toReversed().flatMap((row) => row.map((cosine) => Math.max(0, 1 - cosine))),
  );
  return {
    title: '1 − cosine of token vectors',
    rows: stages.toReversed(),
    columns: items,
    values,
    most: largest(values),
  };
}
