import { expect, test } from '@jest/globals';
import { createHostCheck } from '../../src/endpoints/host-check.js';
import type { LookupAll } from '../../src/endpoints/resolve.js';

const REFUSED = { ok: false, message: 'the host of url is not allowed.' };
const TAKEN = { ok: true };

const answers = (...addresses: string[]): LookupAll => {
  return (_host, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
};

test.each([
  ['a public address', ['8.8.8.8'], TAKEN],
  ['public addresses of both families', ['8.8.8.8', '2606:4700::1111'], TAKEN],
  ['a private address', ['10.0.0.1'], REFUSED],
  ['a loopback address', ['::1'], REFUSED],
  ['a good and a bad one', ['8.8.8.8', '127.0.0.1'], REFUSED],
  ['a bad and a good one', ['fe80::1%eth0', '8.8.8.8'], REFUSED],
])('a name that resolves to %s', async (_, addresses, verdict) => {
  const checkHost = createHostCheck({ allowPrivate: false, lookup: answers(...addresses) });
  expect(await checkHost('hooks.shop.com')).toEqual(verdict);
});

test.each([
  ['8.8.8.8', TAKEN],
  ['127.0.0.1', REFUSED],
  ['::ffff:8.8.8.8', REFUSED],
  ['::1', REFUSED],
])('the literal %s is judged without a lookup', async (host, verdict) => {
  const lookup: LookupAll = () => {
    throw new Error('must not be called');
  };
  expect(await createHostCheck({ allowPrivate: false, lookup })(host)).toEqual(verdict);
});

test('a name that does not resolve yet is taken', async () => {
  const lookup: LookupAll = (_host, _options, callback) =>
    callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []);
  expect(await createHostCheck({ allowPrivate: false, lookup })('soon.shop.com')).toEqual(TAKEN);
});

test('a name that does not resolve in time is taken', async () => {
  const checkHost = createHostCheck({ allowPrivate: false, lookup: () => {}, timeoutMs: 5 });
  expect(await checkHost('slow.shop.com')).toEqual(TAKEN);
});

test('with private endpoints allowed every host is taken', async () => {
  const checkHost = createHostCheck({ allowPrivate: true, lookup: answers('127.0.0.1') });
  expect(await checkHost('localhost')).toEqual(TAKEN);
  expect(await checkHost('::1')).toEqual(TAKEN);
});
