/** Prints docs/operations.md with its table of metrics written anew. Run by make. */
import { readFileSync } from 'node:fs';
import { withMetrics } from './metrics-markdown.js';

process.stdout.write(withMetrics(readFileSync('docs/operations.md', 'utf8')));
