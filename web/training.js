// Training: curves from the log, live while it grows, and maps saved along the way.
import { getTraining } from './api.js';
import { Chart } from './curves.js';
import { element } from './dom.js';
import { frozen, stackedSvg } from './markup.js';
import { snapshots } from './snapshots.js';
import { heatMaps } from './vector.js';

const interval = 2000; // milliseconds between questions

const charts = [
  { title: 'loss', keys: { training: 'loss', validation: 'valid_loss' } },
  { title: 'validation score', prefix: 'valid_', except: ['valid_loss', 'valid_perplexity'] },
  { title: 'validation perplexity', keys: { perplexity: 'valid_perplexity' } },
  { title: 'learning rate', keys: { rate: 'rate' } },
  { title: 'tokens per second', keys: { speed: 'tokens_per_second' } },
  { title: 'gradient norm', keys: { norm: 'gradient_norm' } },
];

/** @param {import('./main.js').App} app */
export function trainingView(app) {
  const drawn = charts.map((chart) => ({ ...chart, view: new Chart(chart.title) }));
  const status = element('p', { className: 'hint', role: 'status' });
  const grid = element('div', { className: 'charts' }, ...drawn.map(({ view }) => view.node));
  const maps = snapshots(app);
  let [model, from, lines, timer] = [null, 0, [], 0];
  let asking = null; // for the log of the model; another begins anew

  const poll = async (now) => {
    try {
      const answer = await getTraining(model.id, from);
      if (now !== asking) return;
      lines = answer.next < from ? answer.lines : lines.concat(answer.lines);
      from = answer.next;
      if (answer.lines.length) {
        show();
        maps.refresh(lines.at(-1).step);
      } else if (!lines.length) {
        status.textContent = 'This model has no training log. Curves appear here when training writes one.';
      }
    } catch (error) {
      if (now === asking) app.fail(error);
    }
    if (now === asking) timer = setTimeout(() => poll(now), interval);
  };
  const show = () => {
    for (const { view, ...chart } of drawn) view.show(seriesOf(chart, lines));
    const last = lines.at(-1);
    const epoch = lines.findLast((line) => line.epoch !== undefined)?.epoch;
    const place = epoch === undefined ? '' : `, epoch ${epoch.toFixed(1)}`;
    status.textContent = `Step ${last.step}${place}. Updates while training runs.`;
  };
  const leave = () => {
    clearTimeout(timer);
    [model, asking] = [null, null];
    maps.leave();
  };
  return {
    node: element('div', { className: 'training' }, status, grid, maps.node),
    draw: () => maps.draw(),
    update() {
      if (model !== app.model) {
        clearTimeout(timer);
        [model, from, lines] = [app.model, 0, []];
        drawn.forEach(({ view }) => (view.node.hidden = true));
        status.textContent = '';
        poll((asking = Symbol('asking')));
      }
      maps.update();
    },
    leave,
    play: maps.play,
    export() {
      const views = drawn.map(({ view }) => view).filter(({ node }) => !node.hidden);
      const shown = maps.shown();
      if (!views.length && !shown.length) return null;
      const parts = () => [
        ...(views.length ? [frozen(views)] : []),
        ...(shown.length ? [heatMaps(shown)] : []),
      ];
      return {
        title: 'training',
        svg: () => stackedSvg(...parts()),
        data: { log: lines, maps: shown },
        origin: { source: undefined, output: undefined }, // not of the sentence on the page
      };
    },
  };
}

/** The lines of a chart: given keys, or all that begin alike. */
function seriesOf({ keys, prefix, except }, lines) {
  keys ??= Object.fromEntries(
    [...new Set(lines.flatMap((line) => Object.keys(line)))]
      .filter((key) => key.startsWith(prefix) && !except.includes(key))
      .map((key) => [key.slice(prefix.length), key]),
  );
  return Object.entries(keys).map(([name, key]) => ({
    name,
    points: lines
      .filter((line) => Number.isFinite(line[key]))
      .map((line) => [line.step, line[key]]),
  }));
}
