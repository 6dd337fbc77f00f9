import { MAX_PAYMENT_BYTES, parsePaymentEvent } from '../../src/payments/payment-event.js';
import type { NewRecord, RecordHeader } from '../../src/ports/broker.js';
import { EVENT_TYPES } from '../../src/webhooks/limits.js';
import { BINARY, binary, SOURCE, STRUCTURED, structured } from '../support/generators/cloud-events.js';
import { EVENT, header } from '../support/generators/delivery-samples.js';

const JSON_EVENT = header('content-type', 'application/cloudevents+json; charset=UTF-8');
const JSON_DATA = header('content-type', 'application/json');
const asStructured = { ...EVENT, cloudEvent: { source: SOURCE, mode: 'structured' } };
const asBinary = { ...EVENT, cloudEvent: { source: SOURCE, mode: 'binary' } };
const record = (value: unknown, ...headers: RecordHeader[]): NewRecord => ({
  key: null,
  value: Buffer.from(JSON.stringify(value)),
  headers,
});

const eventOf = (given: NewRecord) => {
  const parsed = parsePaymentEvent(given);
  return parsed.ok ? parsed.event : parsed;
};

type Taken = readonly [what: string, record: NewRecord, event: object];
type Refused = readonly [what: string, record: NewRecord, reason: string];

describe('structured mode', () => {
  const noData = { ...STRUCTURED, data: undefined };
  const taken: readonly Taken[] = [
    ['without a content type', structured(), asStructured],
    ['with its content type', structured({}, [JSON_EVENT]), asStructured],
    ['as application/json', structured({}, [JSON_DATA]), asStructured],
    ['with its attributes as headers too', { ...binary(), value: structured().value }, asStructured],
    ['the account as an extension', record({ ...noData, accountid: 42 }), asStructured],
    ['the account as a decimal string', record({ ...noData, accountid: '42' }), asStructured],
    ['data that is null, and the extension', structured({ data: null, accountid: '42' }), asStructured],
    ['both: data has the word', structured({ accountid: '43' }), asStructured],
    ['an id of half a surrogate pair', structured({ id: '\ud800' }), { ...asStructured, id: '\ud800' }],
  ];
  test.each(taken)('takes: %s', (_, given, event) => {
    expect(eventOf(given)).toEqual(event);
  });

  test.each(EVENT_TYPES)('takes the type %s with a prefix', (type) => {
    const parsed = parsePaymentEvent(structured({ type: `br.com.example-bank.pay_ments.${type}` }));
    expect(parsed).toMatchObject({ ok: true, event: { type } });
  });

  test('takes exactly 256 KiB, with an id and a source of 1 KiB', () => {
    const of = { id: 'i'.repeat(1_024), source: 's'.repeat(1_024) };
    const frame = structured({ ...of, subject: '' }).value?.length ?? 0;
    const exact = structured({ ...of, subject: 'x'.repeat(MAX_PAYMENT_BYTES - frame) });
    expect(exact.value).toHaveLength(MAX_PAYMENT_BYTES);
    expect(parsePaymentEvent(exact)).toMatchObject({ ok: true, event: { id: of.id } });
    expect(
      parsePaymentEvent({ ...exact, value: Buffer.concat([exact.value ?? Buffer.alloc(0), Buffer.from(' ')]) }),
    ).toEqual({
      ok: false,
      reason: 'the record has more than 262144 bytes',
    });
  });

  const NO_ACCOUNT = 'data.accountId is missing, and so is the extension accountid';
  const BATCH = 'a batch of CloudEvents is not valid on Kafka: publish each as a separate record';
  const refused: readonly Refused[] = [
    ['specversion 0.3', structured({ specversion: '0.3' }), 'specversion is not "1.0"'],
    ['specversion null', structured({ specversion: null }, [JSON_EVENT]), 'specversion is missing'],
    ['no id', structured({ id: undefined }), 'id is missing'],
    ['an empty id', structured({ id: '' }), 'id is empty'],
    ['an id of over 1 KiB', structured({ id: 'é'.repeat(513) }), 'id has more than 1024 bytes'],
    ['a source of over 1 KiB', structured({ source: 'é'.repeat(513) }), 'source has more than 1024 bytes'],
    ['no source', structured({ source: undefined }), 'source is missing'],
    ['an empty source', structured({ source: '' }), 'source is empty'],
    ['no type', structured({ type: undefined }), 'type is missing'],
    ['an unknown type', structured({ type: 'com.example.cash' }), 'type is not a known event type'],
    ['an empty label in the prefix', structured({ type: 'com..cash_in' }), 'type is not a known event type'],
    ['no data', record({ ...noData }), NO_ACCOUNT],
    ['data without an account', structured({ data: {} }), NO_ACCOUNT],
    ['data twice', structured({ data_base64: 'e30=' }), 'data and data_base64 are both present'],
    ['the account in data as a string', structured({ data: { accountId: '42' } }), 'data.accountId must be integer'],
    ['2^53 in data', structured({ data: { accountId: 2 ** 53 } }), 'data.accountId must be <= 9007199254740991'],
    ['2^53 as text', record({ ...noData, accountid: '9007199254740992' }), 'accountid is not a safe integer'],
    ...['', ' 42', '042', '42.0', '٤٢', '1'.repeat(17), 42.5, true, [42]].map(
      (accountid): Refused => [
        `accountid ${JSON.stringify(accountid)}`,
        record({ ...noData, accountid }),
        'accountid is not a whole number',
      ],
    ),
    ['its content type, without specversion', record({ id: 'a' }, JSON_EVENT), 'specversion is missing'],
    [
      'its content type, and no JSON',
      { ...structured({}, [JSON_EVENT]), value: Buffer.from('{') },
      'the record is not JSON',
    ],
    ['its content type, and no value', { ...structured({}, [JSON_EVENT]), value: null }, 'the record has no value'],
    [
      'Avro',
      structured({}, [header('content-type', 'application/cloudevents+avro')]),
      'the CloudEvent is not in JSON format',
    ],
    [
      'a batch by its content type',
      record([STRUCTURED], header('content-type', 'application/cloudevents-batch+json')),
      BATCH,
    ],
    ['a batch by its value', record([STRUCTURED, STRUCTURED]), BATCH],
    ['a batch with the content type of one', record([STRUCTURED], JSON_EVENT), BATCH],
  ];
  test.each(refused)('refuses: %s', (_, given, reason) => {
    expect(parsePaymentEvent(given)).toMatchObject({ ok: false, reason });
  });
});

describe('binary mode', () => {
  const accountInData = { ce_accountid: undefined };
  const taken: readonly Taken[] = [
    ['the account in a header', binary(), asBinary],
    ['the account in the value', binary(accountInData, { accountId: 42 }), asBinary],
    ['both: the header has the word', binary({}, { accountId: 43 }), asBinary],
    ['a value that is no JSON', binary({}, Buffer.from([0xff, 0x00])), asBinary],
    ['no value', binary({}, null), asBinary],
    ['an account header without a value', binary({ ce_accountid: '' }, { accountId: 42 }), asBinary],
    ['an attribute of its own that stands twice', binary({ ce_note: 'a' }, {}, [header('ce_note', 'b')]), asBinary],
    ['the id twice, the same', binary({}, {}, [header('ce_id', 'pay-1')]), asBinary],
  ];
  test.each(taken)('takes: %s', (_, given, event) => {
    expect(eventOf(given)).toEqual(event);
  });

  const twice = (name: string, value: string) => binary({}, {}, [header(name, value)]);
  const refused: readonly Refused[] = [
    ...Object.keys(BINARY)
      .slice(1, 4)
      .map((name): Refused => [`no ${name}`, binary({ [name]: undefined }), `${name} is missing`]),
    ['no ce_specversion', binary({ ce_specversion: undefined }), 'ce_specversion is missing'],
    ['specversion 0.3', binary({ ce_specversion: '0.3' }), 'ce_specversion is not "1.0"'],
    ['an unknown type', binary({ ce_type: 'com.example.cash' }), 'ce_type is not a known event type'],
    ['an account that is no number', binary({ ce_accountid: '42.0' }), 'ce_accountid is not a whole number'],
    ['2^53', binary({ ce_accountid: '9007199254740993' }), 'accountid is not a safe integer'],
    ['no account, and no value', binary(accountInData, null), 'ce_accountid is missing, and the record has no value'],
    ['no account, and no JSON', binary(accountInData, 'x'), 'ce_accountid is missing, and the record is not JSON'],
    [
      'no account anywhere',
      binary(accountInData, {}),
      'ce_accountid is missing, and in the value accountId is missing',
    ],
    ['another id beside', twice('ce_id', 'pay-2'), 'ce_id is repeated with different values'],
    ['another account beside', twice('ce_accountid', '43'), 'ce_accountid is repeated with different values'],
    [
      'an id that is not UTF-8',
      binary({ ce_id: undefined }, {}, [['ce_id', Buffer.from([0xff])]]),
      'ce_id is not UTF-8',
    ],
    ['an extension that is not UTF-8', binary({}, {}, [['ce_x', Buffer.from([0xff])]]), 'an extension is not UTF-8'],
    [
      'a content type with a line end',
      binary({}, {}, [header('content-type', 'a/b\r\nx: y')]),
      'content-type is not a media type',
    ],
    ['an id of over 1 KiB', binary({ ce_id: 'é'.repeat(513) }), 'ce_id has more than 1024 bytes'],
    ['a source of over 1 KiB', binary({ ce_source: 's'.repeat(1_025) }), 'ce_source has more than 1024 bytes'],
    ['attributes of over 64 KiB', binary({ ce_note: ' '.repeat(21_845) }), 'the attributes have more than 65536 bytes'],
  ];
  test.each(refused)('refuses: %s', (_, given, reason) => {
    expect(parsePaymentEvent(given)).toMatchObject({ ok: false, reason });
  });
});

test('the reason holds no value', () => {
  const secrets = [
    structured({ type: 'secret' }),
    structured({ specversion: 'secret' }),
    binary({ ce_accountid: 'secret' }),
    binary({}, {}, [header('ce_id', 'secret')]),
    binary({}, {}, [header('content-type', 'secret')]),
  ];
  for (const given of secrets) {
    const parsed = parsePaymentEvent(given);
    expect(parsed.ok).toBe(false);
    expect(JSON.stringify(parsed)).not.toContain('secret');
  }
});
