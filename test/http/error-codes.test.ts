/** That a code which is answered is listed: by types in src, and support/documented.ts looks at each answer of these tests. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERRORS, FIELD_ERRORS } from '../../src/http/error-codes.js';

const SOURCES = new URL('../../src', import.meta.url).pathname;
const CODE = /'([a-z0-9]+(?:-[a-z0-9]+)*)'/g;
const made = new Set(
  readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((file) => /^(http|webhooks|accounts|endpoints)\/.*\.ts$/.test(file) && !file.endsWith('error-codes.ts'))
    .flatMap((file) => [...readFileSync(join(SOURCES, file), 'utf8').matchAll(CODE)].map(([, code]) => code)),
);

it.each([...Object.values(ERRORS), FIELD_ERRORS].flatMap((codes) => Object.keys(codes)))(
  '%s is a code that something answers',
  (code) => {
    expect(made).toContain(code);
  },
);
