import { type GivenHeader, headerProblems } from '../../src/webhooks/limits.js';

const problemsOf = (...headers: GivenHeader[]) => headerProblems(headers).map(({ index, part }) => `${index}.${part}`);

describe('names', () => {
  it.each([
    'X-Api-Key',
    'authorization',
    '__proto__',
    'constructor',
    "!#$%&'*+-.^_`|~09azAZ",
    'x',
    'n'.repeat(64),
    'webhook',
    'webhooks-id',
    'x-webhook-id',
    'hosts',
    'x_webhook_id',
  ])('takes %s', (key) => {
    expect(problemsOf({ key, value: 'v' })).toEqual([]);
  });

  it.each([
    'host',
    'Host',
    'content-length',
    'Connection',
    'TRANSFER-ENCODING',
    'Content-Type',
    'user-agent',
    'expect',
    'keep-alive',
    'proxy-connection',
    'proxy-authenticate',
    'proxy-authorization',
    'TE',
    'trailer',
    'Upgrade',
    'http2-settings',
    'webhook-id',
    'Webhook-Signature',
    'WEBHOOK-anything',
    'webhook-',
    'Content-Encoding',
    'webhook_signature',
    'transfer_encoding',
    'Content_Length',
  ])('refuses %s: it is the service that sets it', (key) => {
    expect(headerProblems([{ key, value: 'v' }])).toEqual([
      { index: 0, part: 'key', problem: { code: 'header-blocked' } },
    ]);
  });

  it.each([
    ['empty', ''],
    ['65 characters', 'n'.repeat(65)],
    ['a trailing newline', 'X-A\n'],
    ['a trailing CR LF', 'X-A\r\n'],
    ['a space inside', 'X A'],
    ['a leading space', ' X-A'],
    ['a trailing tab', 'X-A\t'],
    ['a colon', 'X:A'],
    ['a pseudo header', ':authority'],
    ['brackets', 'X[A]'],
    ['a quote', 'X"A'],
    ['NUL', 'X\0A'],
    ['DEL', 'X\x7fA'],
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
    ['one character', 'v'],
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
    ['a leading tab', '\tv'],
    ['a trailing tab', 'v\t'],
    ['a space alone', ' '],
    ['a trailing newline', 'v\n'],
    ['a header behind a line end', 'v\r\nHost: evil'],
    ['NUL', 'a\0b'],
    ['DEL', 'a\x7fb'],
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
