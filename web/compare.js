// Two inputs, two models, or two heads, side by side with their difference.
import { difference } from './align.js';
import { changeSection } from './change.js';
import { choice, element, field, fillSelect } from './dom.js';
import { headsIn, nameOfHeads } from './knock_out.js';
import { latest } from './latest.js';
import { loadMap, selectionOf, titleOf } from './maps.js';
import { showOutputs } from './outputs.js';
import { isSelf, layersOf, nameOf } from './pairs.js';
import { Panels } from './panels.js';
import { headOptions, layerOptions } from './picker.js';
import { heatMapSvg } from './vector.js';
import { words } from './words.js';

const kinds = [
  ['inputs', 'two inputs'],
  ['models', 'two models'],
  ['heads', 'two heads'],
  ['without', 'without heads'],
];

/** @typedef {import('./outputs.js').Side} Side */

/** @param {import('./main.js').App} app */
export function compareView(app) {
  const { store } = app;
  const kind = choice('Compare', kinds, (compare) => store.set({ compare }));
  const sentence = words((source2) => store.set({ source2 }));
  const select = (key) =>
    element('select', { onchange: ({ target }) => store.set({ [key]: target.value }) });
  const model = element('select', {
    onchange: ({ target }) => store.set({ model2: Number(target.value) }),
  });
  const [layer, head] = [select('layer2'), select('head2')];
  const controls = {
    inputs: sentence.node,
    models: field('Second model', model),
    heads: element(
      'div',
      { className: 'picker' },
      field('Second layer', layer),
      field('Second head', head),
    ),
    without: element('p', { className: 'hint' }),
  };
  const outputs = [
    element('p', { className: 'flow', dir: 'auto' }),
    element('p', { className: 'flow', dir: 'auto' }),
  ];
  const names = outputs.map(() => element('h3'));
  const panels = new Panels(['First', 'Second', 'Difference'], (row, column) =>
    store.set({ row, column }),
  );
  const message = element('p', { className: 'hint' });
  const change = changeSection(app);
  const load = latest(app, () => {
    message.textContent = '';
    [...names, ...outputs].forEach((part) => part.replaceChildren());
    panels.show([], -1, -1);
    change.hide();
  });

  /** @type {Side[]} */
  let shown = [];
  const show = ({ maps, sides, titles }) => {
    showOutputs(outputs, sides);
    names.forEach((name, side) => {
      name.textContent = outputs[1].hidden ? '' : titles[side];
      name.hidden = outputs[side].hidden;
    });
    const { row, column } = store.state;
    const isWhole = maps.every(Boolean);
    const compared = isWhole ? difference(...maps) : [];
    const isEmpty = isWhole && !compared[2].map.values.length;
    panels.show(isEmpty ? compared.slice(0, 2) : compared, row, column);
    shown = sides;
    const isOfModels = kindOf(app) === 'models' && sides[0] !== sides[1];
    if (isOfModels) change.follow(sides[1].run, app.model.id);
    else change.hide();
    if (!isWhole) message.textContent = lackOf(sides, maps, app.selection.pair);
    else if (isEmpty) message.textContent = 'The two have no tokens in common.';
    else if (kindOf(app) === 'inputs' && sides[0] === sides[1])
      message.textContent = 'Both inputs are the same. Click a word above to change it.';
    else message.textContent = '';
  };
  const showControls = (state) => {
    const chosen = kindOf(app);
    kind.choose(chosen, kindsOf(app));
    for (const [name, node] of Object.entries(controls)) node.hidden = name !== chosen;
    controls.without.textContent =
      `The second is written without ${nameOfHeads(headsIn(app.model, state.out))}. ` +
      'Switch heads on and off under All heads.';
    sentence.show(state.source2 || state.source, state.source);
    fillSelect(
      model,
      app.models.map((other) => [String(other.id), other.shortName]),
      String(otherModel(app, state).id),
    );
    const second = secondOf(app, state).selection;
    fillSelect(layer, layerOptions(app.model, app.selection.pair), second.layer);
    fillSelect(head, headOptions(app.model, second.layer), second.head);
  };
  return {
    controls: kind.node,
    node: element(
      'div',
      { className: 'compare' },
      ...Object.values(controls),
      element('div', { className: 'outputs' }, names[0], outputs[0], names[1], outputs[1]),
      message,
      panels.node,
      change.node,
    ),
    draw() {
      panels.draw();
      change.draw();
    },
    update() {
      const { run, selection } = app;
      const { state } = store;
      showControls(state);
      panels.pin(state.row, state.column);
      if (!run.done) return load.reset();
      const second = secondOf(app, state);
      const { path } = state;
      load(
        JSON.stringify([
          run.id,
          path,
          selection,
          second.source,
          second.model.id,
          second.selection,
          second.out,
        ]),
        async () => {
          const left = { run, path };
          const right = second.isSame
            ? left
            : { run: await app.sideRun(second.model, second.source, second.out), path: '' };
          const [first, last] = second.titles;
          const maps = await Promise.all([
            mapOf(left, selection, first),
            mapOf(right, second.selection, last),
          ]);
          return { maps, sides: [left, right], titles: second.sides };
        },
        show,
      );
    },
    leave() {
      load.drop();
      change.leave();
    },
    export: () =>
      panels.panels.length && {
        title: `comparison of ${kinds.find(([name]) => name === kindOf(app))[1]}`,
        svg: () => heatMapSvg([...panels.panels.map(({ map }) => map), ...change.maps()]),
        data: [...panels.panels.map(({ map }) => map), ...change.maps()],
        origin: originOf(shown),
      },
  };
}

/** What can be compared: models need a second one, heads a model that has any, or some that are off. */
function kindsOf({ models, model, store }) {
  const offered = {
    inputs: true,
    models: models.length > 1,
    heads: model.layers.length > 0,
    without: headsIn(model, store.state.out).length > 0,
  };
  return kinds.map(([name]) => name).filter((name) => offered[name]);
}

/** What is compared: what the address says if it can be, or two models where there are two. */
function kindOf(app) {
  const { compare, source2 } = app.store.state;
  const offered = kindsOf(app);
  return [compare, source2 ? 'inputs' : 'models', 'inputs'].find((kind) => offered.includes(kind));
}

/**
 * What of another model corresponds to a selection: the same, as far as it has it. A base may read
 * one text where the tuned model reads two as one: then the layer at the same place of its only
 * pair. Where there is none, the selection itself, of which it has no map.
 */
function counterpart(model, other, selection) {
  const nearest = selectionOf(other, selection);
  if (nearest.pair === selection.pair) return nearest;
  const isWhole = (of, pair) => Boolean(of.joined) && pair === `${of.joined}/${of.joined}`;
  const sole = soleSelfPair(other);
  const isAlike = isWhole(model, selection.pair) || isWhole(other, sole);
  if (!sole || !isAlike || !isSelf(selection.pair)) return selection;
  const place = layersOf(model, selection.pair).findIndex(({ name }) => name === selection.layer);
  const layer = layersOf(other, sole)[place]?.name ?? selection.layer;
  return selectionOf(other, { ...selection, pair: sole, layer });
}

/** The pair of a model that has one alone, of a sequence that looks at itself. */
function soleSelfPair({ layers }) {
  const pairs = new Set(layers.map(({ queries, keys }) => `${queries}/${keys}`));
  const [pair] = pairs;
  return pairs.size === 1 && isSelf(pair) ? pair : null;
}

const hasPair = (model, pair) => layersOf(model, pair).length > 0;

/** The second model: what the address says, or the first other one, preferably with the pair that is shown. */
function otherModel({ models, model, selection }, { model2 }) {
  const others = models.filter((one) => one !== model);
  const alike = others.find((one) => hasPair(one, selection.pair));
  return models.find(({ id }) => id === model2) ?? alike ?? others[0] ?? model;
}

/** What stands on the right, what both sides and their maps are called, and whether their runs are the same. */
function secondOf(app, state) {
  const { model, selection } = app;
  const kind = kindOf(app);
  if (kind === 'models') {
    const other = otherModel(app, state);
    const theirs = counterpart(model, other, selection);
    const title = ({ shortName }, selected) => `${shortName}: ${titleOf(selected)}`;
    return {
      model: other,
      source: state.source,
      isSame: other === model,
      selection: theirs,
      sides: [model.shortName, other.shortName],
      titles: [title(model, selection), title(other, theirs)],
    };
  }
  if (kind === 'heads') {
    const chosen = selectionOf(model, {
      pair: selection.pair,
      layer: state.layer2 || 'rollout',
      head: state.head2,
    });
    const inPair =
      chosen.pair === selection.pair ? chosen : { ...selection, layer: 'rollout', head: 'mean' };
    const titles = [titleOf(selection), titleOf(inPair)];
    return { model, source: state.source, isSame: true, selection: inPair, sides: titles, titles };
  }
  if (kind === 'without') {
    const sides = ['all heads', 'without'];
    const titles = sides.map((name) => `${name}: ${titleOf(selection)}`);
    return { model, source: state.source, isSame: false, selection, sides, titles, out: state.out };
  }
  const source = state.source2 || state.source;
  const sides = ['first input', 'second input'];
  const titles = sides.map((name) => `${name}: ${titleOf(selection)}`);
  return { model, source, isSame: source === state.source, selection, sides, titles };
}

/** Why there is nothing to compare: some of the runs have no map. */
function lackOf(sides, maps, pair) {
  const models = sides.map(({ run }) => run.model);
  if (models[0] === models[1]) return 'This model has no attention. Its output is above.';
  const lacks = (model, side) => (pair ? !maps[side] : !model.layers.length);
  const lacking = models.filter(lacks).map(({ shortName }) => shortName);
  const what = pair ? `${nameOf(pair)} attention` : 'attention';
  return `There is no ${what} in ${lacking.join(' or ')}. Both outputs are above.`;
}

/** Both sides, for a file; one where both are the same. */
function originOf(sides) {
  const [first, second] = sides.map(({ run, path }) => ({
    model: run.model.name,
    source: run.sentence,
    output: run.text(path),
  }));
  return sides[0] === sides[1] ? first : { ...first, second };
}

/** The map of a selection under a title of its own; null where the model has no such pair. */
async function mapOf({ run, path }, selection, title) {
  if (!hasPair(run.model, selection.pair)) return null;
  return { ...(await loadMap(run, selection, path)), title };
}
