// The page: puts the state, the run and the views together.
import { getModels } from './api.js';
import { composer } from './composer.js';
import { element, fillSelect } from './dom.js';
import { save } from './export.js';
import { describeKeys, listenForKeys } from './keys.js';
import { selectionOf } from './maps.js';
import { notice } from './notice.js';
import { Picker, stepped } from './picker.js';
import { Runner } from './runner.js';
import { Store } from './state.js';
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
  textOf: (path) => spell(path.map((node) => node.token)),
};

const sentence = composer(app);
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
  showTabs(place.id);
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

function showTabs(chosen) {
  for (const tab of $('tabs').children) {
    tab.setAttribute('aria-selected', tab.value === chosen);
    tab.tabIndex = tab.value === chosen ? 0 : -1;
    if (tab.value === chosen) tab.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }
}

function drawAll() {
  shown.view?.draw();
  shown.view?.update();
}

function saveAs(format) {
  $('export').open = false;
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

/** Arrow keys move among the tabs. */
function walkTabs(event) {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by) return;
  const tabs = [...$('tabs').children];
  const next = tabs[(tabs.indexOf(event.target) + by + tabs.length) % tabs.length];
  store.set({ view: next.value });
  next.focus();
  event.preventDefault();
}

function step(by) {
  if (app.model?.layers.length) store.set(stepped(app.model, app.selection, by));
}

function listen() {
  $('tabs').replaceChildren(
    ...views.map(({ id, title }) =>
      element(
        'button',
        {
          type: 'button',
          role: 'tab',
          value: id,
          'aria-controls': 'view',
          onclick: () => store.set({ view: id }),
        },
        title,
      ),
    ),
  );
  $('tabs').addEventListener('keydown', walkTabs);
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
  addEventListener(
    'click',
    ({ target }) => $('export').contains(target) || ($('export').open = false),
  );
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
