// Beam search: the tree of what was considered, and what a hypothesis chosen in it looked at.
import { element } from './dom.js';
import { latest } from './latest.js';
import { idsOf, loadMap } from './maps.js';
import { Matrix } from './matrix.js';
import { Tree } from './tree.js';
import { frozenSvg } from './markup.js';

/** @param {import('./main.js').App} app */
export function beamView(app) {
  const { store } = app;
  const tree = new Tree((id) => {
    const path = idsOf(app.run.pathTo(app.run.leafBelow(id)));
    store.set({ path: path === idsOf(app.run.path()) ? '' : path });
  });
  const caption = element('p', { className: 'caption', dir: 'auto' });
  const matrix = new Matrix('Attention of the chosen hypothesis');
  const load = latest(app.fail);
  const describe = (path) => {
    const last = path.at(-1);
    const score = last
      ? ` — total log probability ${last.total.toFixed(2)}, ${outcomeOf(last)}`
      : '';
    const text = app.run.text(store.state.path);
    caption.replaceChildren(element('span', {}, text), element('bdi', {}, score));
  };
  return {
    node: element(
      'div',
      { className: 'beam' },
      element(
        'p',
        { className: 'hint' },
        'Each column is a step. The numbers of a candidate are its probability in percent, and ' +
          'the log probability of all tokens up to it. Framed candidates went on, the others ' +
          'were pruned. Choose one to see what it looked at.',
      ),
      tree.node,
      caption,
      matrix.node,
    ),
    draw: () => matrix.draw(),
    update() {
      const { run, selection, model } = app;
      const ids = store.state.path;
      const path = run.path(ids);
      tree.show(run, path);
      describe(path);
      matrix.node.hidden = !model.layers.length;
      if (!run.done || !model.layers.length) return load.drop();
      load(
        JSON.stringify([run.id, selection, ids]),
        () => loadMap(run, selection, ids),
        (map) => matrix.show(map),
      );
    },
    export: () =>
      tree.run && {
        title: 'beam search',
        svg: () => tree.whole((drawing) => frozenSvg([{ drawing }])),
        data: nodesOf(tree.run),
      },
  };
}

function outcomeOf({ ended, kept, children }) {
  if (ended) return 'ended';
  if (!kept) return 'pruned';
  return children.length ? 'pruned at the next step' : 'going on';
}

/** The nodes as the server sent them. */
function nodesOf(run) {
  const sent = ['id', 'parent', 'token', 'log_probability', 'total', 'kept', 'ended'];
  const nodes = [...run.nodes.values()].filter(({ id }) => id);
  return { nodes: nodes.map((node) => Object.fromEntries(sent.map((key) => [key, node[key]]))) };
}
