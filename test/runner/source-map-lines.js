/** Source maps (revision 3), read. */
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const [DIGIT, MORE, DIGIT_BITS] = [31, 32, 5];

/**
 * @param {string} code @param {{ sources: string[], mappings: string }} map
 * @returns {{ source: string, line: number, offset: number }[]} for each place of the code that comes from a source, its line there, from 1
 */
export function mappedLines(code, { sources, mappings }) {
  const places = [];
  let [offset, source, line] = [0, 0, 1];
  const texts = code.split('\n');
  for (const [index, segments] of mappings.split(';').entries()) {
    let column = 0;
    for (const segment of segments.split(',').filter(Boolean)) {
      const [columns, otherSource, lines] = numbers(segment);
      column += columns;
      if (otherSource === undefined) continue;
      source += otherSource;
      line += lines;
      places.push({ source: sources[source], line, offset: offset + column });
    }
    offset += (texts[index]?.length ?? 0) + 1;
  }
  return places;
}

/** Variable-length quantities: the lowest bit is the sign. */
function numbers(segment) {
  const all = [];
  let [value, shift] = [0, 0];
  for (const character of segment) {
    const digit = BASE64.indexOf(character);
    value |= (digit & DIGIT) << shift;
    shift += DIGIT_BITS;
    if (digit & MORE) continue;
    all.push(value & 1 ? -(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }
  return all;
}
