/** docs/benchmarks.md: scripts write their parts of it, between marks; the rest is written by hand. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** Another file to try it on. */
const DOCUMENT = process.env.BENCH_DOCUMENT || 'docs/benchmarks.md';

export function writePart(name: string, content: string): void {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const text = existsSync(DOCUMENT) ? readFileSync(DOCUMENT, 'utf8') : '';
  const part = `${begin}\n${content}\n${end}`;
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  const known = from >= 0 && to > from;
  writeFileSync(DOCUMENT, known ? text.slice(0, from) + part + text.slice(to + end.length) : `${text}\n${part}\n`);
  console.log(`written to ${DOCUMENT}`);
}
