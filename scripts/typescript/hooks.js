/** Module hooks: `./x.js`, as TypeScript wants it written, is `./x.ts` where that exists; types are stripped by swc. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compiled } from './compiled.cjs';

export async function resolve(specifier, context, next) {
  if (/^\.{1,2}\/.*\.js$/.test(specifier) && context.parentURL) {
    const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
    if (existsSync(source)) return { url: source.href, format: 'module', shortCircuit: true };
  }
  return next(specifier, context);
}

export async function load(url, context, next) {
  if (!/^file:.*\.ts(\?|$)/.test(url)) return next(url, context);
  return { format: 'module', source: compiled(fileURLToPath(url)), shortCircuit: true };
}
