/** `node --import ./scripts/typescript/register.js file.ts`: Node 20 knows no TypeScript, and swc is here for the tests anyway. */
import { register } from 'node:module';

register('./hooks.js', import.meta.url);
