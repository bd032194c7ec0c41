// The page: puts the state, the run and the views together.
import { getModels } from './api.js';
import { composer } from './composer.js';
import { fillSelect } from './dom.js';
import { save } from './export.js';
import { describeKeys, listenForKeys } from './keys.js';
import { selectionOf } from './maps.js';
import { notice } from './notice.js';
import { Picker, stepped } from './picker.js';
import { Runner } from './runner.js';
import { Store } from './state.js';
import { tabs } from './tabs.js';
import { theme } from './theme.js';
import { spell } from './tokens.js';
import { emptyView, lacking, views } from './views.js';

/**
 * What views share.
 * @typedef {{store: Store, models: import('./api.js').Model[], model: import('./api.js').Model,
 *   run: ?import('./run.js').Run, selection: import('./maps.js').Selection,
 *   fail: function(Error): void, announce: function(string): void,
 *   rerun: function(Partial<import('./state.js').State>): void,
 *   sideRun: function(import('./api.js').Model, string): Promise<import('./run.js').Run>,
 *   textOf: function(import('./run.js').Node[]): string}} App
 */

const $ = (id) => document.getElementById(id);
const store = new Store();
const problems = notice($('notice'), () => start());
const runner = new Runner(() => schedule(), problems.fail);

/** @type {App} */
const app = {
  store,
  models: [],
  get model() {
    return app.models.find(({ id }) => id === store.state.model) ?? app.models[0];
  },
  get run() {
    return runner.run;
  },
  get selection() {
    return selectionOf(app.model, store.state);
  },
  fail: problems.fail,
  announce: (text) => ($('announcer').textContent = text),
  rerun(patch) {
    problems.hide();
    runner.forget();
    store.set(patch);
    runner.follow(app.model, store.state);
  },
  sideRun: (model, source) => runner.beside(model, { ...store.state, source }),
  textOf: (path) =>
    app.run?.texts.get(path.at(-1)?.id) ?? spell(path.map((node) => node.token)),
};

const sentence = composer(app);
const bar = tabs($('tabs'), views, (view) => store.set({ view }));
const picker = new Picker((selection) => store.set(selection));
const switchTheme = theme(() => drawAll());
let note = '';
let isScheduled = false;
/** @type {{id: string, view: ?import('./views.js').View}} */
let shown = { id: '', view: null };

/** Updates the page once in a frame, however much changes. */
function schedule() {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => {
    isScheduled = false;
    update();
  });
}

function update() {
  if (!app.models.length) return;
  const { model, run } = app;
  const place = views.find(({ id }) => id === store.state.view) ?? views[0];
  $('model').value = String(model.id);
  $('about').textContent = `${model.kind}, ${(model.parameters / 1e6).toFixed(1)} M parameters`;
  $('write').textContent = model.writes ? 'Write' : 'Run';
  $('composer').hidden = place.id === 'training';
  sentence.update();
  bar.show(place.id);
  const lack = lacking(place, model, run);
  mount(lack ? `${place.id} ${lack}` : place.id, () =>
    lack ? emptyView(app, lack) : place.make(app),
  );
  const picks = place.picks && !lack && model.layers.length > 0;
  picker.node.hidden = !picks;
  if (picks) picker.show(model, app.selection);
  $('zoom').hidden = !shown.view.zoom;
  document.querySelector('.toolbar').hidden = Boolean(lack);
  shown.view.update();
}

function mount(id, make) {
  if (shown.id === id) return;
  shown.view?.leave?.();
  shown = { id, view: make() };
  $('view').replaceChildren(shown.view.node);
  $('controls').replaceChildren(...(shown.view.controls ? [shown.view.controls] : []), picker.node);
}

function drawAll() {
  shown.view?.draw();
  shown.view?.update();
}

function closeExport() {
  $('export').open = false;
}

function saveAs(format) {
  closeExport();
  if (format === 'link') return navigator.clipboard.writeText(location.href);
  const picture = shown.view.export();
  if (!picture) return;
  const { model, run } = app;
  const output = run ? app.textOf(run.path(store.state.path)) : '';
  save(format, picture, {
    model: model.name,
    source: store.state.source,
    output,
    note,
    link: location.href,
  }).catch(problems.fail);
}

function step(by) {
  if (app.model?.layers.length) store.set(stepped(app.model, app.selection, by));
}

function listen() {
  $('model').addEventListener('change', ({ target }) =>
    store.set({ model: Number(target.value), path: '' }),
  );
  $('theme').addEventListener('click', switchTheme);
  $('help').addEventListener('click', () => $('keys').showModal());
  $('zoom').addEventListener(
    'click',
    ({ target }) => target.value && shown.view.zoom(Number(target.value)),
  );
  $('export').addEventListener('click', ({ target }) => target.value && saveAs(target.value));
  $('export').addEventListener('keydown', ({ key }) => key === 'Escape' && closeExport());
  addEventListener('click', ({ target }) => $('export').contains(target) || closeExport());
  describeKeys($('keys'));
  const byNumber = views.map(({ id }, i) => [String(i + 1), () => store.set({ view: id })]);
  listenForKeys({
    ...Object.fromEntries(byNumber),
    '/': () => sentence.focus(),
    '?': () => $('keys').showModal(),
    '[': () => step({ layers: -1 }),
    ']': () => step({ layers: 1 }),
    ',': () => step({ heads: -1 }),
    '.': () => step({ heads: 1 }),
    ' ': () => shown.view?.play?.(),
    t: switchTheme,
    e: () => {
      $('export').open = true;
      $('export').querySelector('button').focus();
    },
  });
  store.subscribe((state) => {
    if (app.models.length) runner.follow(app.model, state);
    schedule();
  });
}

async function start() {
  try {
    const answer = await getModels();
    app.models = answer.models;
    note = answer.note;
  } catch (error) {
    return problems.fail(error);
  }
  $('note').textContent = note;
  fillSelect(
    $('model'),
    app.models.map(({ id, name }) => [String(id), name]),
    String(app.model.id),
  );
  $('model').disabled = app.models.length < 2;
  runner.forget();
  runner.follow(app.model, store.state);
  schedule();
}

listen();
start();
