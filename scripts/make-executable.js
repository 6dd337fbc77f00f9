/** The last step of `npm run build`: package.json's bin is run as it is, and tsc writes no mode bits. */
import { chmodSync, readFileSync } from 'node:fs';

const file = new URL('../dist/main.js', import.meta.url);
if (!readFileSync(file, 'utf8').startsWith('#!')) throw new Error('src/main.ts must begin with #!/usr/bin/env node');
chmodSync(file, 0o755);
