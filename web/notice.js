// What went wrong, with a way out.
import { getModels } from './api.js';
import { element } from './dom.js';

const patience = 2000; // milliseconds between tries to reach the server

/**
 * @param {HTMLElement} node where it is said
 * @param {function(): void} onAgain runs the sentence again
 */
export function notice(node, onAgain) {
  let timer = 0;
  const hide = () => {
    node.hidden = true;
    clearTimeout(timer);
    timer = 0;
  };
  const again = () => {
    hide();
    onAgain();
  };
  const waitForServer = () => {
    timer = setTimeout(() => getModels().then(again, onFailure), patience);
  };
  const onFailure = (error) => {
    if (error.status === 0) return waitForServer();
    timer = 0;
    fail(error);
  };
  const fail = (error) => {
    if (timer) return;
    const action = { 0: 'Try now', 401: 'Try again', 404: 'Run again', 503: 'Try again' }[error.status];
    const text =
      error.status === 0
        ? 'The explorer is not responding. It may have stopped; the page continues when it is back.'
        : error.message;
    node.replaceChildren(
      text,
      ...(action
        ? [' ', element('button', { type: 'button', className: 'quiet', onclick: again }, action)]
        : []),
    );
    node.hidden = false;
    if (error.status === 0) waitForServer();
  };
  return { fail, hide };
}
