/** CloudEvents over the embedded broker to a receiver: what is on the wire. */
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { readDeadLetter } from '../../src/delivery/dead-letters.js';
import { binary, SOURCE, structured } from '../support/cloud-events.js';
import { header, paymentRecord } from '../support/delivery-samples.js';
import { type DispatcherFixture, openInstallation } from '../support/dispatcher-fixture.js';
import { eventually } from '../support/eventually.js';
import { type ReceivedRequest, type Receiver, startReceiver } from '../support/receiver.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const folder = temporaryDirectory();
const SCHEDULE = [{ text: '20ms', ms: 20 }];
const RECORDS = {
  plain: paymentRecord({ headers: [] }),
  structured: structured(),
  binary: binary({ ce_subject: 'a b é' }, Buffer.from([0xff, 0x00]), [header('content-type', 'application/avro')]),
};
let installation: DispatcherFixture;
let receiver: Receiver;
let secret: string;

beforeAll(async () => {
  installation = await openInstallation(folder.path);
  // The first of each is refused: what comes is what a tier kept.
  const seen = new Set<unknown>();
  const isFirst = (id: unknown) => !seen.has(id) && seen.add(id).size > 0;
  receiver = await startReceiver({
    respond: ({ headers }) => ({ status: isFirst(headers['content-type']) ? 500 : 200 }),
  });
  secret = await installation.account(42);
  await installation.webhook({
    id: 1,
    accountId: 42,
    url: `${receiver.url}/in`,
    headers: [{ key: 'CE-Note', value: 'own' }],
  });
  await installation.dispatch({ schedule: SCHEDULE });
  await installation.publish(...Object.values(RECORDS), binary({ ce_type: 'com.example.cash' }), structured());
});

afterAll(async () => {
  await installation.close();
  await receiver.close();
  folder.remove();
});

/** Not by the library, which takes bodies of text only. */
function signatureOf(headers: IncomingHttpHeaders, body: Buffer): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signed = createHmac('sha256', key)
    .update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`)
    .update(body);
  return `v1,${signed.digest('base64')}`;
}

const isKind = {
  plain: ({ headers }: ReceivedRequest) => headers['content-type'] === 'application/json',
  structured: ({ headers }: ReceivedRequest) =>
    headers['content-type'] === 'application/cloudevents+json; charset=utf-8',
  binary: ({ headers }: ReceivedRequest) => headers['content-type'] === 'application/avro',
};

test.each(['plain', 'structured', 'binary'] as const)(
  '%s: byte by byte, signed, and so again from a tier',
  async (kind) => {
    await eventually(() => receiver.taken.some(isKind[kind]));
    for (const { body, headers } of receiver.requests.filter(isKind[kind])) {
      expect(body).toEqual(RECORDS[kind].value);
      expect(headers['ce-note']).toBe('own');
      expect(headers['webhook-signature']).toBe(signatureOf(headers, body));
    }
  },
);

test('in binary mode the attributes are headers, on every attempt', async () => {
  await eventually(() => receiver.taken.some(isKind.binary));
  const sent = receiver.requests.filter(isKind.binary);
  expect(sent).toHaveLength(2);
  for (const { headers } of sent) {
    expect(headers).toMatchObject({ 'ce-id': 'pay-1', 'ce-source': SOURCE, 'ce-subject': 'a%20b%20%C3%A9' });
  }
});

test('the same source and id are the same webhook-id, published twice and in any mode; the plain event has another', async () => {
  await eventually(() => receiver.taken.length === 4);
  const ids = (kind: keyof typeof isKind) =>
    new Set(receiver.taken.filter(isKind[kind]).map(({ headers }) => headers['webhook-id']));
  expect(receiver.taken.filter(isKind.structured)).toHaveLength(2);
  expect(ids('structured')).toEqual(ids('binary'));
  expect(ids('plain')).not.toEqual(ids('binary'));
  const deliveries = await eventually(async () => {
    const all = await installation.deliveries(42);
    return all.length === 4 ? all : null;
  });
  const sources = deliveries?.map(({ id, eventId, eventSource }) => `${id} ${eventId} ${eventSource}`);
  expect([...new Set(sources)].map((text) => text.replace(/^\S+ /, '')).sort()).toEqual([
    `pay-1 ${SOURCE}`,
    'pay-1 undefined',
  ]);
});

test('what is not valid is a dead letter with all that it came with', async () => {
  const [letter, ...others] = await eventually(async () => {
    const letters = await installation.browse('webhooks.dead-letter');
    return letters.length > 0 ? letters : null;
  });
  expect(others).toEqual([]);
  if (!letter) throw new Error('there is none');
  expect(readDeadLetter(letter)).toMatchObject({ reason: 'not-valid', detail: 'ce_type is not a known event type' });
  expect(letter.headers.map(([name]) => name)).toEqual(
    expect.arrayContaining(['ce_id', 'ce_source', 'ce_specversion']),
  );
});
