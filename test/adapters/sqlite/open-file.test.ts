import { codeOf, DRIVER_PACKAGE, opened } from '../../../src/adapters/sqlite/open-file.js';
import { DataDirUnusable } from '../../../src/adapters/sqlite/store-file.js';

const fails = (error: unknown) => () => {
  throw error;
};

test.each([
  ['is missing', new Error('Could not locate the bindings file. Tried:\n /a/path')],
  ['was left out', Object.assign(new Error("Cannot find module '/a/path'"), { code: 'MODULE_NOT_FOUND' })],
  ['is of another Node', Object.assign(new Error('/a/path: too short'), { code: 'ERR_DLOPEN_FAILED' })],
])('a native module that %s: the message says what builds it, and no path', (_, error) => {
  const notBuilt = expect.objectContaining({ code: 'SQLITE_NOT_BUILT' });
  expect(() => opened(fails(error))).toThrow(notBuilt);
  const unusable = () => {
    try {
      opened(fails(error));
    } catch (cause) {
      throw new DataDirUnusable(cause);
    }
  };
  const todo = `${DRIVER_PACKAGE} is not built for this Node: npm install, then npm rebuild ${DRIVER_PACKAGE}`;
  expect(unusable).toThrow(`DATA_DIR can't be used (${todo})`);
});

test('any other failure stays what it is, and is named without its text', () => {
  const denied = Object.assign(new Error('EACCES: /a/path'), { code: 'EACCES' });
  expect(() => opened(fails(denied))).toThrow(denied);
  expect([denied, new Error('at /a/path'), 'at /a/path'].map(codeOf)).toEqual(['EACCES', 'UNKNOWN', 'UNKNOWN']);
});
