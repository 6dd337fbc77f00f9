/**
 * `node --import` for a service that says which files of src/ ran: the parent sends anything, and is sent those that ran since
 * it asked last, in the order of their first function.
 */
import * as typescriptHooks from '../../../scripts/typescript/hooks.js';
import * as hooks from './marking-hooks.js';

const ran = new Set();
globalThis.__ran = (file) => ran.add(file);
process.on('message', () => {
  process.send([...ran]);
  ran.clear();
});

typescriptHooks.addHooks(typescriptHooks, new URL('../../../scripts/typescript/hooks.js', import.meta.url));
typescriptHooks.addHooks(hooks, new URL('./marking-hooks.js', import.meta.url));
