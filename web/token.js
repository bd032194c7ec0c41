// The secret in the address that `attend explore` printed. It goes with every request, is kept for
// this origin alone (a cookie would go to every port of the machine), and leaves the address, so that
// a link that is passed on has it not.

const stored = 'attend-token';
const given = takeFromAddress();

/** What a request needs to be answered. */
export function authorization() {
  const token = remembered() ?? given;
  return token ? { Authorization: `Bearer ${token}` } : {};
}

function takeFromAddress() {
  const address = new URL(location.href);
  const token = address.searchParams.get('token');
  if (!token || !remember(token)) return token;
  address.searchParams.delete('token');
  history.replaceState(null, '', address);
  return token;
}

/** The newest of this origin: an explorer that was started again has another. */
function remembered() {
  try {
    return localStorage.getItem(stored);
  } catch {
    return null;
  }
}

function remember(token) {
  try {
    localStorage.setItem(stored, token);
    return true;
  } catch {
    return false; // then it stays in the address, for when the page is loaded again
  }
}
