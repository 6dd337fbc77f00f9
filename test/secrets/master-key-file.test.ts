import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { masterKeyFromFile } from '../../src/secrets/master-keys.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory.remove());

it('is made once, mode 0600, and leaves no draft', () => {
  const key = masterKeyFromFile(directory.path, randomBytes);
  expect(key).toHaveLength(32);
  expect(statSync(join(directory.path, 'master.key')).mode & 0o777).toBe(0o600);
  expect(readdirSync(directory.path)).toEqual(['master.key']);
  expect(masterKeyFromFile(directory.path, randomBytes)).toEqual(key);
});

it('the first of two processes counts', () => {
  const first = Buffer.alloc(32, 9);
  const overtaken = (size: number) => {
    writeFileSync(join(directory.path, 'master.key'), first.toString('base64'));
    return randomBytes(size);
  };
  expect(masterKeyFromFile(directory.path, overtaken)).toEqual(first);
});

it('is not made anew beside a store that was sealed with another', () => {
  writeFileSync(join(directory.path, 'store.sqlite'), '');
  expect(() => masterKeyFromFile(directory.path, randomBytes)).toThrow(/restore the key/);
});

it('is refused where the file holds something else', () => {
  writeFileSync(join(directory.path, 'master.key'), 'short');
  expect(() => masterKeyFromFile(directory.path, randomBytes)).toThrow(/holds no valid key/);
  expect(readFileSync(join(directory.path, 'master.key'), 'utf8')).toBe('short');
});

it('may be a link to a file elsewhere', () => {
  const key = Buffer.alloc(32, 9);
  writeFileSync(join(directory.path, 'elsewhere'), key.toString('base64'));
  symlinkSync('elsewhere', join(directory.path, 'master.key'));
  expect(masterKeyFromFile(directory.path, randomBytes)).toEqual(key);
});

it('is refused where it is a link to a missing file, and nothing is made there', () => {
  symlinkSync('elsewhere', join(directory.path, 'master.key'));
  expect(() => masterKeyFromFile(directory.path, randomBytes)).toThrow(/is a link to a missing file: restore the key/);
  expect(readdirSync(directory.path)).toEqual(['master.key']);
});
