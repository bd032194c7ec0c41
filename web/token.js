// The secret in the address that `attend explore` printed. It goes with every request, is kept for
// this origin alone (a cookie would go to every port of the machine), and leaves the address, so that
// a link that is passed on has it not.

import { store, stored } from './storage.js';

const key = 'attend-token';
const given = takeFromAddress();

/** What a request needs to be answered. */
export function authorization() {
  const token = stored(key) ?? given; // the newest: an explorer that was started again has another
  return token ? { Authorization: `Bearer ${token}` } : {};
}

function takeFromAddress() {
  const address = new URL(location.href);
  const token = address.searchParams.get('token');
  if (!token || !store(key, token)) return token; // it stays in the address, for when the page is loaded again
  address.searchParams.delete('token');
  history.replaceState(null, '', address);
  return token;
}
