// Saliency beside attention: what moved the output, next to what was looked at.
import { choice, element } from './dom.js';
import { latest } from './latest.js';
import { loadLabels, loadMap, loadSaliency } from './maps.js';
import { endsOf, givesLabels, readBy, writtenBy } from './pairs.js';
import { Panels } from './panels.js';
import { heatMapSvg } from './vector.js';

const kinds = [
  ['gradient', 'gradient × input'],
  ['integrated', 'integrated gradients'],
  ['leave-out', 'leaving one out'],
];

const hints = {
  both:
    'Saliency is how much each token changes the probability of each token of the output; ' +
    'attention is where the model looked. Where they differ, neither alone explains the output.',
  labels:
    'Each row is a label: blue tokens speak for it, orange ones against it, each row on a scale of ' +
    'its own.',
  alone: 'Saliency is how much each token changes the probability of each token of the output.',
};

/** @typedef {import('./maps.js').HeatMap} HeatMap */

/** @param {import('./main.js').App} app */
export function saliencyView(app) {
  const { store } = app;
  const kind = choice('Saliency', kinds, (saliency) => store.set({ saliency }));
  const hint = element('p', { className: 'hint' });
  const panels = new Panels(['Saliency', 'Attention'], (row, column) => store.set({ row, column }));
  /** @type {{saliency: ?HeatMap, attention: ?HeatMap, isAwaited: boolean}} */
  const nothing = { saliency: null, attention: null, isAwaited: true };
  const known = { ...nothing };
  const failed = new Set();
  const show = (more) => {
    Object.assign(known, more);
    for (const name of Object.keys(more)) failed.delete(name);
    if (known.isAwaited) return; // saliency stands first
    const maps = [known.saliency, known.attention].filter(Boolean);
    const isOfLabels = known.saliency?.byRow;
    hint.textContent = isOfLabels ? hints.labels : maps.length > 1 ? hints.both : hints.alone;
    const { row, column } = store.state;
    panels.show(
      maps.map((map, i) => (i && isOfLabels ? { map, at: sameColumns(map) } : { map })),
      row,
      column,
    );
  };
  const showSaliency = (saliency) => show({ saliency, isAwaited: false });
  // What is wrong with the one stays said when the other has come.
  const beside = (other) => ({
    fail: app.fail,
    waitFor: app.waitFor,
    hideNotice: () => failed.has(other) || app.hideNotice(),
  });
  const follow = latest(beside('attention'), () => {
    showSaliency(null);
    failed.add('saliency');
  });
  const followAttention = latest(beside('saliency'), () => {
    show({ attention: null });
    failed.add('attention');
  });
  const leave = () => {
    follow.drop();
    followAttention.drop();
  };
  let shown = ''; // the hypothesis of which something is known
  /** Maps of two hypotheses do not stand side by side. */
  const turnTo = (hypothesis) => {
    if (hypothesis === shown) return;
    shown = hypothesis;
    leave();
    Object.assign(known, nothing);
    panels.show([], -1, -1);
  };
  return {
    controls: kind.node,
    node: element('div', {}, hint, panels.node),
    draw: () => panels.draw(),
    update() {
      const { run, selection } = app;
      const { path, row, column } = store.state;
      const isLabelled = givesLabels(run.model);
      const offered = kindsFor(isLabelled);
      const saliency = offered.includes(store.state.saliency) ? store.state.saliency : offered[0];
      kind.choose(saliency, offered);
      turnTo(JSON.stringify([run.id, path]));
      panels.pin(row, column);
      if (!run.done) return leave();
      const keys = keysOf(run.model, selection);
      follow(
        JSON.stringify([run.id, saliency, keys, path]),
        (signal) => {
          if (isLabelled) return loadLabels(run, saliency, keys, path);
          const grow = (map) => signal.aborted || showSaliency(map);
          return loadSaliency(run, saliency, keys, path, grow, signal);
        },
        showSaliency,
      );
      followAttention(
        JSON.stringify([run.id, selection, path]),
        // The output of some models looks at nothing.
        async () => (selection.pair ? loadMap(run, selection, path) : null),
        (attention) => show({ attention }),
      );
    },
    leave,
    export() {
      const { rows, room = 0 } = known.saliency ?? { rows: [] };
      if (rows.length < room)
        throw new Error(`Only ${rows.length} of ${room} rows are ready. Save the map when it is complete.`);
      return (
        panels.panels.length && {
          title: 'saliency and attention',
          svg: () => heatMapSvg(panels.panels.map(({ map }) => map)),
          data: panels.panels.map(({ map }) => map),
        }
      );
    },
  };
}

/** Rows that are labels have no counterpart in a map of attention. */
const sameColumns = ({ columns }) => ({ rows: [], columns: columns.map((_, column) => column) });

/** Tokens are left out only where labels are given: what a text is written from cannot be. */
const kindsFor = (isLabelled) =>
  kinds.map(([name]) => name).filter((name) => isLabelled || name !== 'leave-out');

/** The sequence whose tokens are weighed: what the selection looks at, or what is read first. */
function keysOf(model, { pair }) {
  return pair ? endsOf(pair).keys : (readBy(model)[0] ?? writtenBy(model));
}
