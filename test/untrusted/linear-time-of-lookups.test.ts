/** What name servers, certificates, issuers and the hosts file contain: twice the text takes at most three times as long. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { checkServerIdentity } from 'node:tls';
import { fetchKeySet } from '../../src/accounts/fetch-key-set.js';
import { HostsFile } from '../../src/endpoints/hosts-file.js';
import { toAddresses } from '../../src/endpoints/name-resolver.js';
import { attempted, BODY, describeLinear, HEAD, type Parser, repeat } from '../support/oracles/linear-time.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';
import { type Listener, listen } from '../support/servers/receiver.js';

let issuer: Listener;
let folder: ReturnType<typeof temporaryDirectory>;
let keySet = '';

beforeAll(async () => {
  folder = temporaryDirectory();
  issuer = await listen(createServer((_, response) => response.setHeader('connection', 'close').end(keySet)));
});
afterAll(async () => {
  await issuer.close();
  folder.remove();
});

/** In 256 KiB, the limit of a key set. */
const fetched = attempted((text) => {
  keySet = text.slice(0, 256 * 1_024);
  return fetchKeySet(`http://127.0.0.1:${issuer.port}`, AbortSignal.timeout(60_000));
});
const listed = (text: string) => {
  const file = join(folder.path, 'hosts');
  writeFileSync(file, text);
  return new HostsFile(file, () => 0).find('shop.example.com');
};
const identity = (subjectaltname: string) =>
  checkServerIdentity('shop.example.com', { subjectaltname, subject: { CN: subjectaltname } } as never);
const resolved = (text: string) =>
  toAddresses(Array.from(text, (character) => ({ address: character === ':' ? '2606:4700::1' : '192.0.2.1', ttl: 1 })));

/** c-ares reads responses of up to 64 KiB. */
const MAX_RECORDS = 4_096;
const JWK = '{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}';
const PARSERS: readonly Parser[] = [
  [
    "an issuer's key set",
    fetched,
    [
      repeat('['),
      repeat('"a":1,', '{', '"keys":[]}'),
      repeat(`${JWK},`, '{"keys":[', `${JWK}]}`),
      repeat('A', '{"keys":[{"kty":"RSA","e":"AQAB","n":"', '"}]}'),
      repeat('A', '{"keys":[{"kty":"RSA","n":"AQAB","e":"', '"}]}'),
    ],
    HEAD,
  ],
  [
    'the hosts file',
    listed,
    [
      repeat('a '),
      repeat(' ', '127.0.0.1'),
      repeat('#'),
      repeat('a ', '::1 '),
      repeat('127.0.0.1 a\n'),
      repeat('\t\r\n'),
    ],
    BODY,
  ],
  [
    'the names in a certificate',
    attempted(identity),
    [
      repeat('DNS:a.example.com, '),
      repeat('DNS:*.'),
      repeat('a.', 'DNS:*.'),
      repeat(', '),
      repeat('DNS:"a\\"", '),
      repeat('\\"', 'DNS:"', '"'),
      repeat('IP Address:1, '),
      repeat('xn--', 'DNS:'),
    ],
    HEAD,
  ],
  ['the addresses of a name', resolved, [repeat('.'), repeat(':.'), repeat(':')], MAX_RECORDS],
];

describeLinear(PARSERS);
