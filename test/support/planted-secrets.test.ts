import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PIECE_BYTES, PlantedSecrets } from './planted-secrets.js';
import { temporaryDirectory } from './temporary-directory.js';

const BYTES = randomBytes(32);
const percent = (bytes: Buffer) => bytes.toString('hex').replace(/../g, '%$&');

/** The forms of a written secret. */
const FORMS: readonly (readonly [form: string, write: (secret: Buffer) => string | Buffer])[] = [
  ['raw', (secret) => secret],
  ['base64', (secret) => secret.toString('base64')],
  ['base64', (secret) => Buffer.concat([Buffer.from('a'), secret, Buffer.from('b')]).toString('base64')],
  ['base64', (secret) => Buffer.concat([Buffer.from('ab'), secret, Buffer.from('c')]).toString('base64')],
  ['base64url', (secret) => secret.toString('base64url')],
  ['hex', (secret) => secret.toString('hex')],
  ['hex', (secret) => secret.toString('hex').toUpperCase()],
  ['hex with spaces', (secret) => secret.toString('hex').replace(/..(?=.)/g, '$& ')],
  ['percent-encoded', percent],
  ['percent-encoded', (secret) => percent(secret).toUpperCase()],
  ['percent-encoded', (secret) => encodeURIComponent(secret.toString('latin1'))],
  ['decimal', (secret) => JSON.stringify(secret)],
];

let folder: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  folder = temporaryDirectory();
});
afterEach(() => folder.remove());

/** The secrets found in a file that has the text amid other content. */
function foundInFile(secrets: PlantedSecrets, written: string | Buffer) {
  const file = join(folder.path, 'written');
  const around = randomBytes(1_000);
  writeFileSync(file, Buffer.concat([around, Buffer.from(written as string), around]));
  return secrets.foundIn(readFileSync(file));
}

describe.each(FORMS)('%s', (form, write) => {
  it('is found in a file, whole', () => {
    const secrets = new PlantedSecrets();
    const text = secrets.plantValue('planted');
    secrets.plantValue('elsewhere');
    expect(foundInFile(secrets, write(Buffer.from(text)))).toContainEqual({ secret: 'planted', form });
  });

  it.each([0, 1, 2, 7, 14])('is found as the piece that begins at byte %i', (at) => {
    const secrets = new PlantedSecrets();
    const text = secrets.plantValue('planted');
    const piece = Buffer.from(text.slice(at, at + PIECE_BYTES));
    expect(foundInFile(secrets, write(piece)).map(({ secret }) => secret)).toContain('planted');
  });
});

it.each(['raw', 'base64', 'base64url', 'hex', 'decimal'])('the bytes behind a text are found: %s', (form) => {
  const secrets = new PlantedSecrets();
  secrets.plant('key', BYTES.toString('hex'), BYTES);
  const write = FORMS.find(([name]) => name === form)?.[1] ?? String;
  expect(foundInFile(secrets, write(BYTES))).toContainEqual({ secret: 'key', form });
});

it('nothing is found where nothing is, or too little', () => {
  const secrets = new PlantedSecrets();
  // Starts with characters that no form lengthens: two such characters in eight bytes would be twelve characters of
  // percent-encoding.
  const text = secrets.plant('planted', `beginsSo${randomBytes(12).toString('base64')}/+`);
  const other = new PlantedSecrets().plantValue('other');
  for (const [, write] of FORMS) {
    expect(foundInFile(secrets, write(Buffer.from(other)))).toEqual([]);
    expect(foundInFile(secrets, write(Buffer.from(text.slice(0, PIECE_BYTES - 4))))).toEqual([]);
  }
});

it('takes nothing that is too short to be recognised', () => {
  expect(() => new PlantedSecrets().plant('short', 'password')).toThrow(RangeError);
});
