// The output token by token, and the likeliest ones at each step. Choosing another, or writing
// something else, writes the rest again from there.
import { cardsSvg } from './cards.js';
import { element } from './dom.js';
import { idsOf } from './maps.js';
import { percent } from './numbers.js';
import { isContinuing } from './pairs.js';
import { tokenFlow } from './token_flow.js';
import { choiceText } from './tokens.js';

/** @param {import('./main.js').App} app */
export function candidates(app) {
  const list = element('ol', { className: 'candidates' });
  let [run, path, ids] = [null, [], []];
  let focused = -1; // the step whose token was chosen

  const flow = tokenFlow((place, text) => {
    const anew = { target: '', path: '', halt: 0 };
    if (!isContinuing(run.model)) {
      const start = run.beginning(place, app.store.state.path) + text;
      return app.rerun({ ...anew, startIds: '', start: start.trimStart() });
    }
    const startIds = path.slice(0, place).map((node) => node.token_id).join(',');
    app.rerun({ ...anew, startIds: startIds || 'none', start: text });
  });
  const hint = element('p', { className: 'hint' });

  const show = () => {
    const next = run.path(app.store.state.path);
    flow.show(run, next);
    hint.textContent =
      'Click a token to type something else in its place, or click one of the likeliest tokens of ' +
      'its step. The rest is written again from there.' +
      (flow.hasShades()
        ? ' Shades show what the model attended to when it wrote the token under the pointer.'
        : '');
    let same = 0;
    while (same < ids.length && ids[same] === next[same]?.id) ++same;
    while (list.children.length > same) list.lastChild.remove();
    next.slice(same).forEach((_, i) => {
      const step = same + i;
      list.append(card(app, run, next, step, () => (focused = step)));
    });
    path = next;
    ids = next.map((node) => node.id);
    if (focused < 0 || focused >= list.children.length) return;
    if (document.activeElement === document.body)
      list.children[focused].querySelector('[aria-pressed=true]').focus({ preventScroll: true });
    focused = -1;
  };
  return {
    node: element(
      'div',
      {},
      hint,
      flow.node,
      list,
    ),
    draw: () => flow.draw(),
    update() {
      if (run !== app.run) {
        run = app.run;
        ids = [];
        list.replaceChildren();
      }
      show();
    },
    export: () =>
      path.length && {
        title: 'next tokens',
        svg: () => cardsSvg(path.map((node, step) => barsOf(run, node, step))),
        data: path.map((node) => ({ token: node.token, candidates: offers(run, node) })),
      },
  };
}

/** What was on offer where a node was chosen, the likeliest first. */
function offers(run, node) {
  return run.nodes
    .get(node.parent)
    .children.map(({ id, token, token_id, ends, log_probability }) => ({
      id,
      token,
      token_id,
      ends,
      probability: Math.exp(log_probability),
      chosen: id === node.id,
    }))
    .sort((a, b) => b.probability - a.probability);
}

function card(app, run, path, step, onChoose) {
  const before = path.slice(0, step);
  const choose = (offer) => {
    onChoose();
    const all = [...before, offer];
    const startIds = all.map((node) => node.token_id).join(',');
    if (!offer.ends) app.rerun({ startIds, start: '', target: '', path: '', halt: 0 });
    else app.store.set({ path: idsOf(all) }); // nothing is left to write
  };
  const entries = offers(run, path[step]).map((offer) => {
    const { token, probability, chosen } = offer;
    const bar = element('i');
    bar.style.transform = `scaleX(${probability})`;
    return element(
      'li',
      {},
      element(
        'button',
        {
          type: 'button',
          'aria-pressed': chosen,
          onclick: () => choose(offer),
        },
        element('bdi', {}, choiceText(token, run.tokenizer)),
        bar,
        element('span', {}, `${percent(probability)} %`),
      ),
    );
  });
  return element(
    'li',
    { className: 'card' },
    element('h3', {}, `step ${step + 1}`),
    element('ol', {}, ...entries),
  );
}

/** A card for a picture. @returns {import('./cards.js').Card} */
function barsOf(run, node, step) {
  const bars = offers(run, node).map(({ token, probability, chosen }) => {
    return { name: choiceText(token, run.tokenizer), probability, chosen };
  });
  return { title: `step ${step + 1}`, bars };
}
