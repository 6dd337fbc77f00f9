/** `node --import ./scripts/typescript/register.js file.ts`: Node 20 knows no TypeScript, and swc is here for the tests anyway. */
import * as hooks from './hooks.js';

hooks.addHooks(hooks, new URL('./hooks.js', import.meta.url));
