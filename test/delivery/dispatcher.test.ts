import { readDeadLetter } from '../../src/delivery/dead-letters.js';
import { headerText, type NewRecord, type ReceivedRecord } from '../../src/ports/broker.js';
import { eventually } from '../support/clocks/eventually.js';
import { header } from '../support/generators/delivery-samples.js';
import { POISON, payment, paymentOfSize } from '../support/generators/poison.js';
import { AccountFixture, eventId, webhookId } from '../support/scenes/account-fixture.js';

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

  const traceOf = (record: NewRecord) => Number(headerText(record, 'traceparent')?.slice(3));
  const placeOf = (record?: ReceivedRecord) => `${record?.topic}/${record?.partition}/${record?.offset}`;
  const toldOf = (letter: ReceivedRecord) => {
    const { reason, detail, source } = readDeadLetter(letter);
    return { reason, detail, source };
  };

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

describe('stop and start', () => {
  test('what waits in a tier of an earlier schedule is still delivered, with its webhook-id', async () => {
    let status = 500;
    const { requests } = await fixture.webhook(1, { respond: () => ({ status }) });
    await fixture.installation.dispatch({ schedule: [{ text: '59s', ms: 59_000 }], now: () => Date.now() - 70_000 });
    await fixture.installation.publish(payment('evt'));
    await eventually(async () => (await fixture.installation.browse('webhooks.retry.59s')).length === 1);
    await fixture.restart();
    status = 200;
    await fixture.installation.dispatch({ schedule: [{ text: '1h', ms: 3_600_000 }] });
    await eventually(() => requests.length === 2);
    expect(new Set(requests.map(webhookId)).size).toBe(1);
  });

  test('a tier that another schedule creates while a dispatcher runs is read', async () => {
    let status = 500;
    const { requests } = await fixture.webhook(1, { respond: () => ({ status }) });
    const canary = await fixture.installation.dispatch({ schedule: [{ text: '59s', ms: 59_000 }] });
    await fixture.installation.publish(payment('evt'));
    const [waiting] = await eventually(async () => {
      const found = await fixture.installation.browse('webhooks.retry.59s');
      return found.length === 1 && found;
    });
    await canary.close();
    status = 200;
    const dispatcher = await fixture.installation.dispatch();
    await fixture.installation.broker.publish('webhooks.retry.1ms', [waiting as NewRecord]);
    await eventually(() => requests.length === 2, { timeout: 60_000 });
    expect(new Set(requests.map(webhookId)).size).toBe(1);
    expect(dispatcher.state().unreadTiers.get('webhooks.retry.1ms')).toBe(0);
    expect(dispatcher.state().retries.partitions.map(({ topic }) => topic)).toContain('webhooks.retry.1ms');
  });
});
