/** `node --import ./scripts/typescript/register.js file.ts`: Node 20 knows no TypeScript, and swc is here for the tests anyway. */
import { addHooks } from './add-hooks.js';
import * as hooks from './hooks.js';

addHooks(hooks, new URL('./hooks.js', import.meta.url));
