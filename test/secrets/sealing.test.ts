import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { masterKey } from '../../src/secrets/master-keys.js';
import {
  CannotOpen,
  createSealing,
  headerPlace,
  responsePlace,
  type SealedPlace,
  signingSecretPlace,
} from '../../src/secrets/sealing.js';

const key = masterKey(Buffer.alloc(32, 1));
const otherKey = masterKey(Buffer.alloc(32, 2));
const sealing = createSealing([key], randomBytes);
const place = headerPlace(42, 'X-Api-Key');

it.each(['', 'Bearer abc', 'x'.repeat(4096), '\u00e4\u20ac'])('opens what it sealed: %p', (value) => {
  expect(sealing.open(sealing.seal(value, place), place)).toBe(value);
});

it('writes v1.<8 hex>.<base64url>, never the value, and each time otherwise', () => {
  const sealed = sealing.seal('a-plain-secret', place);
  expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[A-Za-z0-9_-]+$/);
  expect(sealed.split('.')[1]).toBe(key.id);
  expect(Buffer.from(sealed.split('.')[2] ?? '', 'base64url').toString('latin1')).not.toContain('a-plain-secret');
  expect(sealing.seal('a-plain-secret', place)).not.toBe(sealed);
});

it('knows a header by its name without case', () => {
  expect(sealing.open(sealing.seal('v', headerPlace(42, 'X-API-KEY')), headerPlace(42, 'x-api-key'))).toBe('v');
});

it('tells a value that it holds, under the key that seals now', () => {
  const rotated = createSealing([otherKey, key], randomBytes);
  const sealed = sealing.seal('v', place);
  expect(sealing.holds(sealed, 'v', place)).toBe(true);
  expect(sealing.holds(sealed, 'w', place)).toBe(false);
  expect(sealing.holds(sealed, 'v', headerPlace(43, 'X-Api-Key'))).toBe(false);
  expect(rotated.holds(sealed, 'v', place)).toBe(false);
});

describe('does not open', () => {
  const sealed = sealing.seal('v', place);
  it.each([
    ['for another account', headerPlace(43, 'X-Api-Key')],
    ['for another header', headerPlace(42, 'X-Api-Key2')],
    ['as a signing secret', signingSecretPlace(42)],
    ['for an account and field that read alike', { accountId: 4, field: '2/header:x-api-key' }],
  ])('%s', (_, elsewhere) => {
    expect(() => sealing.open(sealed, elsewhere)).toThrow(CannotOpen);
  });

  it('with another key', () => {
    expect(() => createSealing([otherKey], randomBytes).open(sealed, place)).toThrow(CannotOpen);
  });

  it('with another key that is called the same', () => {
    const impostor = { ...otherKey, id: key.id };
    expect(() => createSealing([impostor], randomBytes).open(sealed, place)).toThrow(CannotOpen);
  });

  it('where any byte was changed', () => {
    const [version, id, payload = ''] = sealed.split('.');
    const bytes = Buffer.from(payload, 'base64url');
    fc.assert(
      fc.property(fc.nat({ max: bytes.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ flip;
        expect(() => sealing.open(`${version}.${id}.${changed.toString('base64url')}`, place)).toThrow(CannotOpen);
      }),
    );
  });

  it.each(['', 'v1', `v1.${key.id}.`, `v1.${key.id}.AAAA`, sealed.replace('v1', 'v2'), sealed.slice(0, -4), 'plain'])(
    '%p',
    (given) => {
      expect(() => sealing.open(given, place)).toThrow(CannotOpen);
    },
  );
});

describe('an answer to an attempt', () => {
  const AT = '2026-11-21T23:59:59.999Z';
  const NEXT_DAY = '2026-11-22T00:00:00.000Z';
  const answer = responsePlace(42, 'msg_1', AT);

  /** With one nonce, the same key makes the same ciphertext of a value, and only that key. */
  const ciphertext = (at: SealedPlace) => {
    const sealed = createSealing([key], (size) => Buffer.alloc(size)).seal('why', at);
    return Buffer.from(sealed.split('.')[2] ?? '', 'base64url').toString('hex', 12, 15);
  };

  it('shares its key with another delivery of its account and day', () => {
    expect(ciphertext(responsePlace(42, 'msg_2', '2026-11-21T00:00:00.000Z'))).toBe(ciphertext(answer));
  });

  it.each([
    ['another account', responsePlace(43, 'msg_1', AT)],
    ['another day', responsePlace(42, 'msg_1', NEXT_DAY)],
    ['a header', headerPlace(42, 'x')],
  ])('shares no key with %s', (_, other) => {
    expect(ciphertext(other)).not.toBe(ciphertext(answer));
  });

  it.each([
    ['another attempt', responsePlace(42, 'msg_1', '2026-11-21T23:59:59.998Z')],
    ['another delivery', responsePlace(42, 'msg_2', AT)],
    ['another account', responsePlace(43, 'msg_1', AT)],
    ['another day', responsePlace(42, 'msg_1', NEXT_DAY)],
    ['its attempt, with the key of another day', { ...answer, day: '2026-11-22' }],
    ['its attempt, with the key of no day', { accountId: 42, field: answer.field }],
  ])('does not open for %s', (_, elsewhere) => {
    expect(() => sealing.open(sealing.seal('why', answer), elsewhere)).toThrow(CannotOpen);
  });

  it('opens with the previous master key, and after any number of other accounts', () => {
    const old = sealing.seal('why', answer);
    const rotated = createSealing([otherKey, key], randomBytes);
    for (let other = 0; other < 10_001; other += 1) rotated.seal('x', responsePlace(other, 'msg_1', AT));
    expect(rotated.open(old, answer)).toBe('why');
  });
});

it('a previous master key still opens, and the present one seals', () => {
  const old = sealing.seal('v', place);
  const rotated = createSealing([otherKey, key], randomBytes);
  expect(rotated.open(old, place)).toBe('v');
  expect(rotated.seal('v', place)).toMatch(new RegExp(`^v1\\.${otherKey.id}\\.`));
});

it('a master key has 32 bytes, and each purpose a key of its own', () => {
  expect(() => masterKey(Buffer.alloc(31))).toThrow(RangeError);
  expect(key.derive('sealing')).not.toEqual(key.derive('access-tokens'));
  expect(key.derive('sealing')).toEqual(masterKey(Buffer.alloc(32, 1)).derive('sealing'));
  expect(key.id).not.toBe(otherKey.id);
});
