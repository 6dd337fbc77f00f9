import { readDeadLetter } from '../../src/delivery/dead-letters.js';
import { readLogRecord } from '../../src/delivery/log/log-record.js';
import { headerText, type NewRecord, type ReceivedRecord } from '../../src/ports/broker.js';
import { AccountFixture, eventId, eventIds } from '../support/account-fixture.js';
import { ACCOUNT, header } from '../support/delivery-samples.js';
import { eventually } from '../support/eventually.js';
import { MANY_HEADERS, POISON, payment, paymentOfSize } from '../support/poison.js';

const DEAD_LETTERS = 'webhooks.dead-letter';

let fixture: AccountFixture;
beforeEach(async () => {
  fixture = await AccountFixture.open();
});
afterEach(() => fixture.close());

describe('records that are not payment events', () => {
  test('every kind, each between good ones: the good arrive, the bad are dead letters as they came', async () => {
    const { requests } = await fixture.webhook(1);
    await fixture.installation.dispatch();
    const mixed = POISON.flatMap(({ record }, index) => [payment(`good-${index}`), record]);
    await fixture.installation.publish(...mixed, paymentOfSize(256 * 1024));
    await eventually(() => requests.length === POISON.length + 1);
    const letters = await eventually(async () => {
      const found = await fixture.installation.browse(DEAD_LETTERS);
      return found.length >= POISON.length && found.sort((one, other) => traceOf(one) - traceOf(other));
    });
    expect(requests.map(eventId).sort()).toEqual([...POISON.map((_, index) => `good-${index}`), 'big'].sort());
    const badOnes = (await fixture.installation.browse('payment-events')).filter((_, index) => index % 2 === 1);
    expect(letters.map(toldOf)).toEqual(
      POISON.map(({ reason: detail }, index) => ({ reason: 'not-valid', detail, source: placeOf(badOnes[index]) })),
    );
    expect(letters.map(({ key, value, headers: [first] }) => ({ key, value, headers: [first] }))).toEqual(
      POISON.map(({ record }) => record),
    );
  });

  test('of a record with too many headers the dead letter keeps key and value', async () => {
    await fixture.installation.dispatch();
    await fixture.installation.publish(MANY_HEADERS);
    const [letter] = await eventually(async () => {
      const found = await fixture.installation.browse(DEAD_LETTERS);
      return found.length > 0 && found;
    });
    const { key, value } = MANY_HEADERS;
    expect(letter).toMatchObject({ key, value });
    expect(letter?.headers.map(([name]) => name)).toEqual(['aw-source', 'aw-reason', 'aw-detail']);
  });

  const traceOf = (record: NewRecord) => Number(headerText(record, 'traceparent')?.slice(3));
  const placeOf = (record?: ReceivedRecord) => `${record?.topic}/${record?.partition}/${record?.offset}`;
  const toldOf = (letter: ReceivedRecord) => {
    const { reason, detail, source } = readDeadLetter(letter);
    return { reason, detail, source };
  };

  test('an account that is unknown, or has no URL for the type: done, silently, and a missing key is no fault', async () => {
    const good = await fixture.webhook(1);
    await fixture.installation.dispatch();
    const unknown = payment('unknown', { accountId: 43 });
    const silent = [unknown, payment('no-url', { type: 'med_created' }), payment('negative', { accountId: -1 })];
    await fixture.installation.publish(...silent, { key: null, value: Buffer.from(payment('no-key')), headers: [] });
    await eventually(async () => (await fixture.installation.deliveries(ACCOUNT)).length === 1);
    await fixture.restart();
    await fixture.installation.dispatch();
    await fixture.installation.publish(payment('after'));
    await eventually(async () => (await fixture.installation.deliveries(ACCOUNT)).length === 2);
    expect(eventIds(good)).toEqual(['no-key', 'after']);
    expect(await fixture.installation.browse(DEAD_LETTERS)).toEqual([]);
    const log = await fixture.installation.browse('webhooks.deliveries');
    expect(log.flatMap((record) => readLogRecord(record).deliveries)).toHaveLength(2);
  });

  test('a record of a tier that is none of ours is a dead letter, and holds nobody behind it', async () => {
    const good = await fixture.webhook(1, { respond: () => ({ status: good.requests.length === 1 ? 500 : 200 }) });
    await fixture.installation.broker.publish('webhooks.retry.50ms', [
      { key: null, value: Buffer.from('who put me here?'), headers: [header('aw-due', '9999999999999')] },
    ]);
    await fixture.installation.dispatch({ schedule: [{ text: '50ms', ms: 50 }] });
    await fixture.installation.publish(payment('evt'));
    await eventually(() => good.requests.length === 2);
    const letters = await eventually(async () => {
      const found = await fixture.installation.browse(DEAD_LETTERS);
      return found.length > 0 && found;
    });
    const [foreign] = await fixture.installation.browse('webhooks.retry.50ms');
    expect(letters.map(toldOf)).toEqual([
      { reason: 'not-valid', detail: 'the record is not a retry record', source: placeOf(foreign) },
    ]);
  });
});
