/** The format of a tier's records. */
import fc from 'fast-check';
import { endpointKey } from '../../../src/delivery/endpoint-key.js';
import {
  bytesOf,
  MAX_MEMBERS,
  type Members,
  membersOf,
  overAt,
  toBundle,
  waitOf,
  withMembers,
  withWait,
} from '../../../src/delivery/retry/bundle.js';
import type { NewRecord } from '../../../src/ports/broker.js';
import { header } from '../../support/generators/delivery-samples.js';
import { anyCharacters } from '../../support/generators/odd-json.js';

const ENDPOINT = endpointKey(42, 'https://shop.example.com/hook');
const WAIT = { due: 1_795_251_600_123, moreMs: 20_000 };

const anyBytes = fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes));
const anyMember: fc.Arbitrary<NewRecord> = fc.record({
  key: fc.option(anyBytes),
  value: fc.option(anyBytes),
  headers: fc.array(fc.tuple(anyCharacters(), anyBytes), { maxLength: 4 }),
});
const anyMembers = fc.array(fc.option(anyMember), { minLength: 1, maxLength: 20 });

test('its members have their bytes, headers, order and numbers back, also after some are done', () => {
  fc.assert(
    fc.property(anyMembers, fc.array(fc.nat(19)), (members, done) => {
      const bundle = toBundle(ENDPOINT, members, WAIT);
      expect(membersOf(bundle)).toEqual(members);
      const left = members.map((member, part) => (done.includes(part) ? null : member));
      expect(membersOf(withMembers(bundle, left))).toEqual(left);
    }),
  );
});

test('its time is kept, and can be replaced', () => {
  const bundle = toBundle(ENDPOINT, [null], WAIT);
  expect([waitOf(bundle), overAt(bundle)]).toEqual([WAIT, WAIT.due + WAIT.moreMs]);
  const later = withWait(bundle, { due: 7.5, moreMs: 0 });
  expect([waitOf(later), later.key, later.value]).toEqual([{ due: 7.5, moreMs: 0 }, bundle.key, bundle.value]);
});

test('all bundles of one endpoint have one key, which contains its account and not its URL', () => {
  const keyOf = (accountId: number, url: string) => String(toBundle(endpointKey(accountId, url), [null], WAIT).key);
  expect(keyOf(42, 'https://shop.example.com/hook')).toBe(keyOf(42, 'https://shop.example.com/hook'));
  expect(keyOf(42, 'https://shop.example.com/hook')).toMatch(/^42 [\w-]{22}$/);
  const others = [keyOf(42, 'https://shop.example.com/other'), keyOf(43, 'https://shop.example.com/hook')];
  expect(new Set([keyOf(42, 'https://shop.example.com/hook'), ...others]).size).toBe(3);
});

describe('a record that is not a bundle', () => {
  const bundle = toBundle(ENDPOINT, [{ key: null, value: Buffer.from('abc'), headers: [header('h', 'v')] }], WAIT);
  const cut = (from: number, to: number) => bundle.value?.subarray(from, to) ?? null;
  const rows: (readonly [what: string, value: Buffer | string | null])[] = [
    ['without a value', null],
    ['empty', ''],
    ['a bare payment', '{"id":"pay-1"}'],
    ['without members', '[]\n'],
    ['too many members', `${JSON.stringify(Array(MAX_MEMBERS + 1).fill(null))}\n`],
    ['a member that is a number', '[7]\n'],
    ['a negative length', '[[null,-1]]\n'],
    ['half a length', '[[null,0.5]]\na'],
    ['a length in text', '[[null,"1"]]\na'],
    ['a header without bytes', '[[null,1,"h"]]\na'],
    ['a header named 7', '[[null,0,7,1]]\na'],
    ['an index that is not JSON', '[[\na'],
    ['fewer bytes than its index says', cut(0, -1)],
    ['more bytes than its index says', Buffer.concat([bundle.value ?? Buffer.alloc(0), Buffer.from('x')])],
  ];

  test.each(rows)('%s has no members', (_, value) => {
    expect(membersOf({ value: typeof value === 'string' ? Buffer.from(value) : value })).toBeNull();
  });

  test.each([
    ['no header', []],
    ['what is not JSON', [header('aw-bundle', '{')]],
    ['a time in text', [header('aw-bundle', '{"due":"1","moreMs":0}')]],
    ['a negative time', [header('aw-bundle', '{"due":-1,"moreMs":0}')]],
  ])('is due now, so that it delays no other: %s', (_, headers) => {
    expect(waitOf({ headers })).toEqual({ due: 0, moreMs: 0 });
  });

  test('whatever its bytes are: no error, and never members that it lacks', () => {
    const forged = fc.tuple(fc.json(), fc.uint8Array({ maxLength: 40 }));
    fc.assert(
      fc.property(forged, ([index, bytes]) => {
        const value = Buffer.concat([Buffer.from(`${index}\n`), bytes]);
        const members: Members = membersOf({ value }) ?? [];
        expect(members.length).toBeLessThanOrEqual(MAX_MEMBERS);
      }),
    );
  });
});

test('an index that no bundle of ours has is not parsed', () => {
  const parse = jest.spyOn(JSON, 'parse');
  try {
    expect(membersOf({ value: Buffer.from(`${'['.repeat(600 * 1024)}\n`) })).toBeNull();
    expect(parse).not.toHaveBeenCalled();
  } finally {
    parse.mockRestore();
  }
});

test('what a member adds to a bundle counts, however many headers without a text it has', () => {
  const member = { key: null, value: null, headers: Array.from({ length: 1_000 }, () => header('h', '')) };
  const bundle = toBundle(endpointKey(1, 'https://a/'), [member, member], { due: 0, moreMs: 0 });
  const brackets = '[]\n'.length - 1;
  expect(2 * bytesOf(member) + brackets).toBe(bundle.value?.length);
});
