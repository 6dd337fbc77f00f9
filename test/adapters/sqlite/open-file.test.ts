import { expect, test } from '@jest/globals';
import { codeOf } from '../../../src/adapters/sqlite/open-file.js';

const NOT_BUILT = 'better-sqlite3 is not built for this Node: npm rebuild better-sqlite3';

test.each([
  ['of fs', Object.assign(new Error('EACCES: /a/path'), { code: 'EACCES' }), 'EACCES'],
  ['without a code', new Error('at /a/path'), 'UNKNOWN'],
  ['that is none', 'at /a/path', 'UNKNOWN'],
  ['of a native module that is missing', new Error('Could not locate the bindings file. Tried:\n /a/path'), NOT_BUILT],
  ['of one of another Node', Object.assign(new Error('/a/path: too short'), { code: 'ERR_DLOPEN_FAILED' }), NOT_BUILT],
])('an error %s is named without its text', (_, error, named) => {
  expect(codeOf(error)).toBe(named);
});
