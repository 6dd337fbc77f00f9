/** Prints docs/receivers.md with its table of causes written anew. Run by make. */
import { readFileSync } from 'node:fs';
import { withCauses } from './causes-markdown.js';

process.stdout.write(withCauses(readFileSync('docs/receivers.md', 'utf8')));
