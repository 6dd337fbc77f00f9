/** @param {readonly string[]} head @param {readonly (readonly unknown[])[]} rows */
export function table(head, rows) {
  const line = (cells) => `| ${cells.map((cell) => String(cell ?? '').replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n').replace(/ {2,}\|/g, ' |');
}
