#!/usr/bin/env node
/** The test server as EVENTSTOREDB_COMMAND wants a program: `server-program.js PORT DATA_FOLDER`. */
import { register } from 'node:module';

register('../../../scripts/typescript/hooks.js', import.meta.url);
const { serveAsProgram } = await import('./as-program.ts');
await serveAsProgram(Number(process.argv[2]), process.argv[3]);
