#!/usr/bin/env node
/** The test server as EVENTSTOREDB_COMMAND wants a program: `server-program.js PORT DATA_FOLDER`. */
import '../../../scripts/typescript/register.js';

const { serveAsProgram } = await import('./as-program.ts');
await serveAsProgram(Number(process.argv[2]), process.argv[3]);
