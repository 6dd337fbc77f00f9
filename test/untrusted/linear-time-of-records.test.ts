/** Decoders of Kafka's records, and what the console makes of payments: twice the input takes at most three times as long. */
import { headerOf } from '../../src/adapters/kafka/fetched/batch-header.js';
import { unpack, zstdByBlocks } from '../../src/adapters/kafka/fetched/codecs.js';
import { decodeRecords } from '../../src/adapters/kafka/fetched/decode-records.js';
import { messagesOf } from '../../src/adapters/kafka/fetched/record-set.js';
import type { Payment } from '../../src/console/api/shapes.js';
import { curlOf } from '../../src/console/delivery/curl.js';
import { indentJson } from '../../src/console/format/json-text.js';
import { csvOf } from '../../src/console/payments/csv.js';
import { en } from '../../src/console/texts/en.js';
import { attempted, BODY, describeLinear, HEAD, type Parser, repeat } from '../support/oracles/linear-time.js';

/** Texts of single bytes, as `repeat` makes them. */
const bytesOf = (text: string) => Buffer.from(text, 'latin1');
const CODECS = { gzip: 1, snappy: 2, lz4: 3, zstd: 4 } as const;
const unpacked = (codec: keyof typeof CODECS) => attempted((text) => unpack(CODECS[codec], bytesOf(text)));

const XERIAL = '\x82SNAPPY\0\0\0\0\x01\0\0\0\x01';
const LZ4 = '\x04\x22\x4d\x18\x40\x40\xc0';
const ZSTD = '\x28\xb5\x2f\xfd\0';
const SMALL_WINDOW = '\0';
const LARGE_WINDOW = '\x58';
const ONE_BYTE = '\x0a\0\0A';
const EMPTY_GZIP = Buffer.from('1f8b0800000000000003030000000000000000', 'hex').toString('latin1');

/** Count, then nothing but what follows. */
const batchOf = (count: number) => {
  const header = Buffer.alloc(61);
  header.writeInt32BE(1_000_000, 23);
  header.writeInt32BE(count, 57);
  return headerOf(header);
};
const LARGEST_COUNT = 0x7fffffff;
const decoded = attempted((text) => decodeRecords(bytesOf(text), batchOf(LARGEST_COUNT)));
/** Of a record without key, value and headers. */
const EMPTY_RECORD = '\x0c\0\0\0\x01\x01\0';
/** As a varint: that many headers, of which each is an empty name and no value. */
const MANY_HEADERS = '\xfe\xff\xff\x7f\0\0\0\x01\x01\xfe\xff\x3d';

const BATCHES = [repeat('\0'), repeat(`${'\0'.repeat(8)}\0\0\0\x31${'\0'.repeat(4)}\x02${'\0'.repeat(44)}`)];
const messages = (text: string) =>
  messagesOf(bytesOf(text), { from: 0, end: 1_000_000, aborted: [], budget: { bytes: 1_000_000 } });

const TEXTS = [
  repeat('a'),
  repeat('"'),
  repeat("'"),
  repeat('[', '"'),
  repeat('['),
  repeat('[],', '[', '0]'),
  repeat('\\"', '"', '"'),
];
const paymentOf = (text: string) =>
  ({
    ...{ eventId: text, eventType: 'cash_in', publishedAt: null, arrived: 'all', notSent: null, cursor: '' },
    ...{ payload: text, amount: text, reference: text, sentTo: [] },
  }) as unknown as Payment;
const csv = (text: string) =>
  csvOf([paymentOf(text)], { texts: en, separator: ';', hasPayloads: true, urls: new Map() });
const curl = (text: string) =>
  curlOf({ id: text, payload: text, request: { contentType: text, headers: { [text]: text } } } as never, text);

const PARSERS: readonly Parser[] = [
  ['gzip', unpacked('gzip'), [repeat(EMPTY_GZIP), repeat('\0')], BODY],
  ['snappy', unpacked('snappy'), [repeat('\0\0\0\x01\0', XERIAL), repeat('\xff', XERIAL), repeat('\xff')], BODY],
  ['LZ4', unpacked('lz4'), [repeat('\x01\0\0\x80A', LZ4, '\0\0\0\0'), repeat('\xff', LZ4)], BODY],
  [
    'Zstandard on this Node.js',
    unpacked('zstd'),
    [repeat('\0\0\0', ZSTD + SMALL_WINDOW, '\x01\0\0'), repeat(ONE_BYTE, ZSTD + LARGE_WINDOW, '\x01\0\0')],
    BODY,
  ],
  [
    'Zstandard on a Node.js without it',
    attempted((text) => zstdByBlocks(bytesOf(text))),
    [
      repeat(ONE_BYTE, ZSTD + SMALL_WINDOW, '\x01\0\0'),
      repeat(ONE_BYTE, ZSTD + LARGE_WINDOW, '\x01\0\0'),
      repeat(`${ZSTD}${SMALL_WINDOW}\x01\0\0`),
      repeat('\x50\x2a\x4d\x18\0\0\0\0'),
    ],
    BODY,
  ],
  [
    'the records of a batch',
    decoded,
    [repeat(EMPTY_RECORD), repeat('\0'), repeat('\xff'), repeat('\0\x01', MANY_HEADERS)],
    BODY,
  ],
  ['the batches of a partition', messages, BATCHES, BODY],
  ['a payload in the console', indentJson, TEXTS, BODY],
  ['a payment as CSV', csv, [...TEXTS, repeat('1', '', '.x')], BODY],
  ['a delivery as a curl command', curl, TEXTS, HEAD],
];

describeLinear(PARSERS);
