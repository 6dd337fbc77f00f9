import { type GivenHeader, headerProblems } from '../../src/webhooks/limits.js';

const problemsOf = (...headers: GivenHeader[]) => headerProblems(headers).map(({ index, part }) => `${index}.${part}`);

describe('names', () => {
  it.each([
    'X-Api-Key',
    '__proto__',
    "!#$%&'*+-.^_`|~09azAZ",
    'n'.repeat(64),
    'webhook',
    'x-webhook-id',
    'x_webhook_id',
  ])('takes %s', (key) => {
    expect(problemsOf({ key, value: 'v' })).toEqual([]);
  });

  it.each([
    'host',
    'Host',
    'Content-Type',
    'TE',
    'http2-settings',
    'webhook-id',
    'WEBHOOK-anything',
    'webhook_signature',
    'transfer_encoding',
  ])('refuses %s: it is the service that sets it', (key) => {
    expect(headerProblems([{ key, value: 'v' }])).toEqual([
      { index: 0, part: 'key', problem: { code: 'header-blocked' } },
    ]);
  });

  it('refuses a name for its length before its characters are looked at', () => {
    const problem = { code: 'too-long', params: { limit: 64 } };
    expect(headerProblems([{ key: ' '.repeat(65), value: '' }])).toEqual([{ index: 0, part: 'key', problem }]);
  });

  it.each([
    ['empty', ''],
    ['65 characters', 'n'.repeat(65)],
    ['a trailing newline', 'X-A\n'],
    ['a space inside', 'X A'],
    ['a colon', 'X:A'],
    ['NUL', 'X\0A'],
    ['not ASCII', 'X-Ä'],
    ['a letter that lower case makes ASCII (Kelvin)', 'X-\u212a'],
    ['a blocked name behind a newline', 'host\n'],
  ])('refuses %s', (_, key) => {
    expect(problemsOf({ key, value: 'v' })).toEqual(['0.key']);
  });

  it('refuses two that differ in case only, at the second', () => {
    expect(problemsOf({ key: 'X-A', value: '1' }, { key: 'X-B', value: '2' }, { key: 'x-a', value: '3' })).toEqual([
      '2.key',
    ]);
    expect(problemsOf({ key: '__proto__', value: '1' }, { key: '__PROTO__', value: '2' })).toEqual(['1.key']);
  });
});

describe('values', () => {
  it.each([
    ['the empty value', ''],
    ['a space inside', 'Bearer a b'],
    ['a tab inside', 'a\tb'],
    ['all visible ASCII', Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)).join('')],
    ['4096 characters', 'v'.repeat(4096)],
  ])('takes %s', (_, value) => {
    expect(problemsOf({ key: 'X-A', value })).toEqual([]);
  });

  it.each([
    ['a leading space', ' v'],
    ['a trailing space', 'v '],
    ['a trailing newline', 'v\n'],
    ['a header behind a line end', 'v\r\nHost: evil'],
    ['NUL', 'a\0b'],
    ['Latin-1', 'caf\u00e9'],
    ['a character above Latin-1', '\u20ac'],
    ['4097 characters', 'v'.repeat(4097)],
  ])('refuses %s', (_, value) => {
    expect(problemsOf({ key: 'X-A', value })).toEqual(['0.value']);
  });

  it('name and value are judged both', () => {
    expect(problemsOf({ key: 'ok', value: 'ok' }, { key: 'not ok', value: 'not ok\n' })).toEqual(['1.key', '1.value']);
  });
});
