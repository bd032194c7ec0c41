// What models are called: the ends of their paths, as long as they must be to differ.

/**
 * Gives each model a `shortName`.
 * @param {import('./api.js').Model[]} models
 */
export function withShortNames(models) {
  const paths = models.map(({ name }) => name.split('/').filter(Boolean));
  const tail = (path, length) => path.slice(-length).join('/');
  const shortest = (path) => {
    let length = 1;
    while (length < path.length && paths.some((other) => isOther(other, path, length))) ++length;
    return tail(path, length);
  };
  const isOther = (other, path, length) =>
    other !== path && tail(other, length) === tail(path, length);
  return models.map((model, i) => ({ ...model, shortName: shortest(paths[i]) || model.name }));
}
