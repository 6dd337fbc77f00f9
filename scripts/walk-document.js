/** Prints docs/walk.md. */
import { readFileSync } from 'node:fs';
import { walk } from '../test/support/walk/walk.ts';

const { post, payment } = await walk();
process.stdout.write(`<!-- Written by make walk-document. -->
# A walk through the code

What runs because of one call of an embedded service that is warm, file by file, in the order of first use. Some, as the clock of the
gate and what looks for new records, run all the time and stand where they happened to run.
test/architecture/walk.test.ts holds how many there are.

## A POST of a webhook: ${post.length} files

${list(post)}

## A payment that is delivered at once: ${payment.length} files

${list(payment)}
`);
// Of its broker nothing else is left.
process.exit();

function list(files) {
  return files.map((file, index) => `${index + 1}. [${file}](../${file})${about(file)}`).join('\n');
}

/** The first sentence of the first doc comment: of the file, or of what it exports first. */
function about(file) {
  const [, comment = ''] = /\/\*\*(.*?)\*\//s.exec(readFileSync(file, 'utf8')) ?? [];
  const text = comment
    .replaceAll(/^\s*\* ?/gm, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const [sentence = ''] = /^.*?[.:](?= |$)|^.*$/.exec(text.split(' @')[0]) ?? [];
  return sentence ? `: ${sentence.replace(/[.:]$/, '').replaceAll('<', '&lt;').replaceAll('[', '\\[')}` : '';
}
