/** The table of metrics in docs/operations.md, from the table of src/observability/. */
import { METRICS } from '../src/observability/metrics-table.js';

const HEAD = '| metric | type | labels | meaning |\n|---|---|---|---|\n';
const TABLE = /\| metric \| type .*\n\|-.*\n(\|.*\n)*/;

/** @param chapter the text of docs/operations.md @returns the same with the table of the metrics that there are */
export function withMetrics(chapter) {
  return chapter.replace(TABLE, () => HEAD + Object.entries(METRICS).map(row).join(''));
}

function row([name, { type, labels, says }]) {
  return `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${says} |\n`;
}
