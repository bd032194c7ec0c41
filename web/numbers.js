// Numbers as people read them.

/** A weight: three decimals, and two digits of what is smaller than they can say. */
export function weight(value) {
  const size = Math.abs(value);
  if (!size || size >= 0.01) return value.toFixed(3);
  return size < 0.001 ? value.toExponential(1) : value.toPrecision(2);
}

/** Three digits at most, for scales and axes. */
export function brief(value) {
  const size = Math.abs(value);
  if (size >= 10000) return `${Number((value / 1000).toPrecision(3))}k`;
  if (size && size < 0.001) return value.toExponential(1);
  return String(Number(value.toPrecision(3)));
}

/** A count in thousands or millions: 823, 47 k, 5.2 M. */
export function count(value) {
  if (value < 1000) return String(value);
  const [size, unit] = value < 999500 ? [value / 1e3, 'k'] : [value / 1e6, 'M'];
  return `${Number(size.toPrecision(size < 100 ? 2 : 3))} ${unit}`;
}

/** A sum of log probabilities, in seven letters at the most. */
export function total(value) {
  return value > -999.995 ? (Math.round(value * 100) / 100 || 0).toFixed(2) : value.toFixed(0);
}

/** A number of an axis whose marks are `step` apart. */
export function tick(value, step) {
  if (!value) return '0';
  const [size, unit] = Math.abs(value) >= 10000 ? [1000, 'k'] : [1, ''];
  const decimals = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
  if (decimals > 5) return value.toExponential(1);
  return (value / size).toFixed(decimals) + unit;
}

/** A probability in percent; what is not zero does not become it. */
export function percent(probability) {
  const whole = Math.round(probability * 100);
  return whole || !probability ? String(whole) : '<1';
}
