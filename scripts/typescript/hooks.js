/** Module hooks: `./x.js`, as TypeScript wants it written, is `./x.ts` where that exists; types are stripped by swc. */
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { compiled, isTypeScript } from './compiled.js';

export function resolve(specifier, context, next) {
  const { parentURL = 'node:' } = context;
  // Packages may ship both.
  if (/^\.{1,2}\/.*\.js$/.test(specifier) && parentURL.startsWith('file:') && !parentURL.includes('/node_modules/')) {
    const source = new URL(specifier.replace(/\.js$/, '.ts'), parentURL);
    if (existsSync(source)) return { url: source.href, format: 'module', shortCircuit: true };
  }
  return next(specifier, context);
}

export function load(url, context, next) {
  if (!isTypeScript(url)) return next(url, context);
  return { format: 'module', source: compiled(fileURLToPath(url)), shortCircuit: true };
}

/**
 * @param {object} hooks `resolve` and `load`, of Node's module hooks; what `next` answers may be a promise
 * @param {URL} url of their module: Node 20 loads it in a thread of its own. Later versions, which deprecate that, call
 * `hooks` in this one
 */
export function addHooks(hooks, url) {
  if (module.registerHooks) module.registerHooks(hooks);
  else module.register(url);
}
