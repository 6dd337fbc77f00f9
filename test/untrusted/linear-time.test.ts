/** Parsers of text that anyone may send: twice the text takes at most three times as long, and most cut it before. */
import type { Context } from 'koa';
import { ownerOf, sessionSecretIn } from '../../src/accounts/client-credentials.js';
import { retryAfterMs } from '../../src/delivery/attempt/classification.js';
import { unroutedPlace } from '../../src/delivery/dead-letters.js';
import { fromRetryRecord, traceOf } from '../../src/delivery/delivery.js';
import { readLogRecord } from '../../src/delivery/log/log-record.js';
import { readPaymentText } from '../../src/delivery/record-place.js';
import { isPublicAddress, parseRanges } from '../../src/endpoints/address-ranges.js';
import { parseEndpoint, parseUrl, requestTarget } from '../../src/endpoints/endpoint-url.js';
import { failureOf } from '../../src/endpoints/failure.js';
import { ResponseStart } from '../../src/endpoints/response-start.js';
import { explainedTrouble } from '../../src/host/connection-trouble.js';
import { binaryHeaders, elementsOf, valuesOfLines } from '../../src/http/payment-events/event-values.js';
import { recordsOf } from '../../src/http/payment-events/read-events.js';
import { cursorQuery, FILTERS, readQuery } from '../../src/http/query.js';
import { createSessionCookies } from '../../src/http/sessions/session-cookie.js';
import { parseTraceContext } from '../../src/observability/tracing.js';
import { parsePaymentEvent } from '../../src/payments/payment-event.js';
import { paymentFields } from '../../src/payments/payment-fields.js';
import { readTime } from '../../src/time/iso-time.js';
import { headerProblems } from '../../src/webhooks/limits.js';
import { growthOf } from '../support/oracles/growth.js';
import {
  attempted,
  BODY,
  describeLinear,
  HEAD,
  MAX_GROWTH,
  type Parser,
  repeat,
} from '../support/oracles/linear-time.js';

const DATES = [repeat('-', 'Mon, '), repeat(' -', 'Mon, 21'), repeat(' '), repeat('9'), repeat(' 00:00:00', 'Mon')];
const STATUS_LINES = [
  repeat('\r\n'),
  repeat('HTTP/1.1 100 \r\n\r\n'),
  repeat('a: b\r\n', 'HTTP/1.1 103 \r\n'),
  repeat(' ', 'HTTP/1.1'),
  repeat('\r', 'HTTP/1.1 200'),
];
const TEXTS = [
  repeat('a'),
  repeat('0'),
  repeat('/'),
  repeat('%'),
  repeat('.'),
  repeat(' ', 'x', 'x'),
  repeat('\\"', '"'),
];
const JSONS = [
  ...TEXTS,
  repeat('[', '{"id":'),
  repeat('{},', '[', '{}]'),
  repeat('[[],', '[1,', ''),
  repeat('"a":1,', '{', '"a":1}'),
  repeat('\\u0000', '{"id":"', '"}'),
  repeat('a.', '{"specversion":"1.0","id":"1","source":"s","accountid":"1","type":"', '"}'),
  repeat('\n'),
  repeat('{\n'),
];

const status = (text: string) => {
  const start = new ResponseStart();
  start.begin();
  start.came(Buffer.from(text, 'latin1'));
  return start.status;
};
const statusOfBytes = (text: string) => {
  const start = new ResponseStart();
  start.begin();
  const bytes = Buffer.from(text.slice(0, HEAD), 'latin1');
  for (let at = 0; at < bytes.length; at += 64) start.came(bytes.subarray(at, at + 64));
  return start.status;
};
const cookies = createSessionCookies('https://hooks.example.com');
const cookiesOf = (text: string) => cookies.of({ get: () => text } as unknown as Context);
/** Punycode encodes each of its letters by itself. */
const toRareLetters = (length: number) =>
  `https://${String.fromCodePoint(...Array.from({ length: Math.min(length, 16_384) }, (_, at) => 0x4e00 + ((7 * at) % 20_000)))}.com`;
const rules = { allowedPorts: [{ from: 1, to: 65_535 }], allowPrivate: false };
const record = (text: string) => ({ key: null, value: Buffer.from(text), headers: [] });
const withHeader = (name: string) => (text: string) => ({
  ...{ topic: 't', partition: 0, offset: 0, timestamp: 0, key: null, value: Buffer.from('{}') },
  headers: [[name, Buffer.from(text)]] as [string, Buffer][],
});
const ceHeaders = (text: string) => binaryHeaders({ rawHeaders: ['ce-id', text, `ce-${text}`, ''], headers: {} });
const server = { name: '', url: '', trust: '', tls: { on: '', off: '' }, clientCertificate: '' };

const BATCH = {
  valuesOf: elementsOf,
  headers: [['content-type', Buffer.from('application/cloudevents+json')] as const],
};
const EVENT = '{"specversion":"1.0","id":"a","source":"s","type":"cash_in","accountid":42,"data":';
/** 500 of them in a request of 1 MiB. */
const nestedIn = (before: string, after: string) => (length: number) => {
  const depth = Math.ceil(length / 1_000);
  const one = before + '['.repeat(depth) + ']'.repeat(depth) + after;
  return `[${Array(500).fill(one).join()}]`;
};
const BATCHES = [
  ...JSONS,
  nestedIn('', ''),
  nestedIn(EVENT, '}'),
  nestedIn(`[${EVENT}`, '}]'),
  nestedIn('{"specversion":"1.0","type":', '}'),
  nestedIn('{"accountid":', '}'),
];

const PARSERS: readonly Parser[] = [
  ['Retry-After', (text) => retryAfterMs(text, 0), DATES, HEAD],
  ['the start of a response', status, STATUS_LINES, HEAD],
  ['the start of a response in small chunks', statusOfBytes, STATUS_LINES, HEAD / 2],
  [
    'a failed connection',
    (text) => failureOf(Object.assign(new Error(text), { code: text }), 'handshake', text),
    [repeat('_ALERT_CERTIFICATE_'), repeat('EAI_', '', ' '), repeat('UND_ERR_RES_', '', ' ')],
    HEAD,
  ],
  [
    'a connection error of a server',
    (text) => explainedTrouble(text, '', server),
    [repeat('alert '), repeat('Last error: '), repeat('getaddrinfo a')],
    HEAD,
  ],
  ['a resolved address', isPublicAddress, [repeat(':'), repeat('%', '::1'), repeat('5efe:'), repeat('1.')], HEAD],
  ['address ranges', (text) => parseRanges([text])?.has(text) ?? null, [repeat(':'), repeat('1.', '', '/8')], HEAD],
  ['a forbidden address', (text) => parseRanges(['::/0'])?.has(text), [repeat('%', '', '\n'), repeat(':')], HEAD],
  [
    'a webhook URL',
    (text) => parseEndpoint(text, rules),
    [...TEXTS, repeat('a.', 'https://'), repeat('@', 'https://a')],
    HEAD,
  ],
  [
    'a request target',
    (text) => requestTarget(new URL(text)),
    [repeat('%', 'https://a.com/'), repeat('|', 'https://a.com/?')],
    HEAD,
  ],
  ['a time', readTime, [...TEXTS, repeat('0', '2026-11-21T08:00:00.')], HEAD],
  [
    'a cursor',
    cursorQuery('', (json) => json).read,
    [...TEXTS, repeat('A'), repeat('W1td', 'W'), repeat('AAAA')],
    HEAD,
  ],
  [
    'filters',
    attempted((text) => readQuery({ ...FILTERS } as never, { error: text, from: text, to: text })),
    TEXTS,
    HEAD,
  ],
  [
    'traceparent and tracestate',
    (text) => parseTraceContext(text, text),
    [...TEXTS, repeat('-', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`)],
    HEAD,
  ],
  [
    'a cookie header',
    cookiesOf,
    [
      repeat(';'),
      repeat('; '),
      repeat(' ', ';'),
      repeat('__Host-console-', ';'),
      repeat(`;__Host-console-ps_${'a'.repeat(16)}=`),
    ],
    HEAD,
  ],
  [
    'a client id and a session secret',
    (text) => [ownerOf(text), sessionSecretIn(text)],
    [...TEXTS, repeat('a', 'pub_')],
    HEAD,
  ],
  [
    'a header of a webhook',
    (text) => headerProblems([{ key: text, value: text }]),
    [...TEXTS, repeat('\t', 'a')],
    HEAD,
  ],
  ['headers of a CloudEvent', ceHeaders, [...TEXTS, repeat('\\', '"'), repeat('%0')], HEAD],
  ['lines of events', (text) => [...valuesOfLines(Buffer.from(text))].length, JSONS, BODY],
  ['elements of a batch', attempted((text) => [...elementsOf(Buffer.from(text))].length), JSONS, BODY],
  ['a batch of events', attempted((text) => recordsOf(Buffer.from(text), BATCH, async () => undefined)), BATCHES, BODY],
  ['a payment event', (text) => parsePaymentEvent(record(text)), JSONS, BODY / 4],
  ['fields of a payment', (text) => paymentFields({ data: { amount: text, endToEndId: text } }), TEXTS, BODY],
  [
    'a record of a tier',
    (text) => [fromRetryRecord(withHeader('aw-delivery')(text)), traceOf(withHeader('traceparent')(text))],
    JSONS,
    BODY,
  ],
  ['a dead letter', (text) => unroutedPlace(withHeader('aw-source')(text)), [...TEXTS, repeat('/1')], BODY],
  ['a log entry', attempted((text) => readLogRecord(record(text))), JSONS, BODY],
  [
    'a URL',
    parseUrl,
    [...TEXTS, repeat('\u4e00\u5fb7\u9f8d\u7389\u6c34\u91d1', 'https://'), repeat('xn--a.', 'https://'), toRareLetters],
    BODY / 4,
  ],
  ['a position of a payment', readPaymentText, [...TEXTS, repeat('/1'), repeat('/1/1@'), repeat('@')], BODY],
];

describeLinear(PARSERS);

test('what the test measures grows with the square of a quadratic parser', async () => {
  // biome-ignore lint/complexity/useRegexLiterals: a literal would be found by the test of all patterns.
  const quadratic = new RegExp('/+$');
  const growth = await growthOf(repeat('/', '', 'x'), (text) => quadratic.test(text), {
    maxLength: HEAD,
    // In all rounds: a lucky one does not end it.
    most: 0,
  });
  expect(growth).toBeGreaterThan(MAX_GROWTH);
});
