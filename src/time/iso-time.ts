/** The only parser of times that people and programs give: in queries, bodies and arguments. */

const TIME = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d([.,]\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/i;

/** RFC 3339, in ms since the epoch; a date without a time is its start, in UTC. Null for a time that does not exist. */
export function readTime(text: string): number | null {
  const day = TIME.exec(text)?.[1];
  // Date.parse takes 30 February as 2 March.
  const begins = Date.parse(day ?? '');
  if (Number.isNaN(begins) || new Date(begins).toISOString().slice(0, 10) !== day) return null;
  const time = Date.parse(text.toUpperCase().replace(',', '.'));
  return Number.isNaN(time) ? null : time;
}
