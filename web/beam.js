// Beam search: the tree of what was considered, and the attention of a hypothesis chosen in it.
import { element } from './dom.js';
import { Figure } from './figure.js';
import { latest } from './latest.js';
import { idsOf, loadMap } from './maps.js';
import { frozen, stackedSvg } from './markup.js';
import { total, weight } from './numbers.js';
import { choiceText } from './tokens.js';
import { Tree } from './tree.js';

/** @param {import('./main.js').App} app */
export function beamView(app) {
  const { store } = app;
  const tree = new Tree({
    onChoose(id) {
      const path = idsOf(app.run.pathTo(app.run.leafBelow(id)));
      store.set({ path: path === idsOf(app.run.path()) ? '' : path });
    },
    onMove: (node) => app.announce(describeNode(node, app.run.tokenizer)),
  });
  const caption = element('p', { className: 'caption', dir: 'auto' });
  const figure = new Figure('Attention of the chosen hypothesis', app, {
    onPin: (row, column) => store.set({ row, column }),
  });
  const load = latest(app, () => figure.clear());
  const show = (map) => {
    figure.show(map);
    figure.pin(store.state.row, store.state.column);
  };
  const describe = (path) => {
    const last = path.at(-1);
    const score = last
      ? ` — total log probability ${total(last.total)}, ${outcomeOf(last, app.run)}`
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
        'Each column is a step. A candidate has its probability in percent, and the log ' +
          'probability of the output up to it. Framed candidates were kept, the others were pruned. ' +
          'Click one to see its attention.',
      ),
      tree.node,
      caption,
      figure.node,
    ),
    draw: () => figure.draw(),
    update() {
      const { run, selection, model } = app;
      const ids = store.state.path;
      const path = run.path(ids);
      tree.show(run, path);
      describe(path);
      figure.node.hidden = !model.layers.length;
      if (!run.done || !model.layers.length) return load.reset();
      load(
        JSON.stringify([run.id, selection, ids]),
        () => loadMap(run, selection, ids),
        show,
      );
    },
    leave: load.drop,
    export: () =>
      tree.run && {
        title: 'beam search',
        svg: () => tree.whole((drawing) => stackedSvg(frozen([{ drawing }]))),
        data: nodesOf(tree.run),
      },
  };
}

function describeNode({ token, log_probability, ended, kept }, tokenizer) {
  const fate = ended ? 'ended' : kept ? 'kept' : 'pruned';
  return `${choiceText(token, tokenizer)}, probability ${weight(Math.exp(log_probability))}, ${fate}`;
}

function outcomeOf({ ended, kept, children }, run) {
  if (!kept) return 'pruned';
  if (ended) return 'ended';
  if (children.length) return 'pruned at the next step';
  return run.done ? 'cut off' : 'in progress';
}

/** The nodes as the server sent them. */
function nodesOf(run) {
  const scores = ['log_probability', 'total', 'kept', 'ends', 'ended', 'special'];
  const sent = ['id', 'parent', 'token', 'token_id', ...scores];
  const nodes = [...run.nodes.values()].filter(({ id }) => id);
  return { nodes: nodes.map((node) => Object.fromEntries(sent.map((key) => [key, node[key]]))) };
}
