/** @param {readonly string[]} head @param {readonly (readonly unknown[])[]} rows */
export function table(head, rows) {
  const padded = (cell) => ` ${String(cell ?? '').replaceAll('|', '\\|')}`.trimEnd();
  const line = (cells) => `|${cells.map((cell) => `${padded(cell)} |`).join('')}`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}
