/** A dispatcher decodes a record that it consumes once: another parse would delay all deliveries, which share its thread. */
import { toRequest } from '../../src/delivery/again/request.js';
import { readDeadLetter } from '../../src/delivery/dead-letters.js';
import type { Delivery } from '../../src/delivery/delivery.js';
import { membersOf } from '../../src/delivery/retry/bundle.js';
import type { FollowedPage, NewRecord } from '../../src/ports/broker.js';
import { eventually } from '../support/clocks/eventually.js';
import { bundleOf } from '../support/generators/bundles.js';
import { ACCOUNT, deliveryTo } from '../support/generators/delivery-samples.js';
import { AccountFixture } from '../support/scenes/account-fixture.js';
import { withMethods } from '../support/scenes/with-methods.js';

const TIER = 'webhooks.deferred.5s';

let fixture: AccountFixture;
let requests: readonly unknown[];
let texts: unknown[];
beforeEach(async () => {
  fixture = await AccountFixture.open();
  ({ requests } = await fixture.webhook(1));
  texts = [];
  const { parse } = JSON;
  jest.spyOn(JSON, 'parse').mockImplementation((text, reviver) => {
    texts.push(text);
    return parse(text, reviver);
  });
});
afterEach(async () => {
  jest.restoreAllMocks();
  await fixture.close();
});

/** How often the text was parsed as JSON. */
const parsed = (text: string | Buffer | undefined) => texts.filter((one) => one === String(text)).length;

function sample(id: string): Delivery {
  const webhookEvent = fixture.installation.accounts.webhook(ACCOUNT, 1)?.addedBy ?? '';
  return deliveryTo(1, { id, webhookEvent });
}

function headerOf({ headers }: NewRecord, name: string): Buffer | undefined {
  return headers.find(([own]) => own === name)?.[1];
}

test('the wait, the index and each member of a bundle are parsed once', async () => {
  const bundle = bundleOf([sample('a'), sample('b'), sample('c')], Date.now());
  const members = (membersOf(bundle) ?? []).map((member) => member && headerOf(member, 'aw-delivery')?.toString());
  const index = bundle.value?.subarray(0, bundle.value.indexOf('\n'));
  texts = [];
  await fixture.installation.dispatch();
  await fixture.installation.broker.publish(TIER, [bundle]);
  await eventually(() => requests.length === 3);
  expect([headerOf(bundle, 'aw-bundle'), index].map(parsed)).toEqual([1, 1]);
  expect(members.map((member) => parsed(member ?? undefined))).toEqual([1, 1, 1]);
});

test('a request is parsed once by the consumer, also for the chain that it starts', async () => {
  const { broker } = fixture.installation;
  // Another process' dispatcher would follow it as well: here nobody reads the topic but the consumer.
  async function* follow(): AsyncIterable<FollowedPage> {}
  await fixture.installation.dispatch({ broker: withMethods(broker, { follow }) });
  const request = toRequest(sample('a'), { trigger: 'resend', actor: 'ana' });
  await broker.publish('webhooks.requests', [request]);
  await eventually(() => requests.length === 1);
  expect(parsed(headerOf(request, 'aw-delivery'))).toBe(1);
});

describe('a record that is not ours', () => {
  const [wait] = bundleOf([deliveryTo(1)], Date.now(), 3_600_000).headers;
  test.each([
    [TIER, 'claims to wait', 'the record is not a retry record', wait ? [wait] : []],
    ['webhooks.requests', 'is in the topic of requests', 'the record is not a request', []],
  ])('in %s that %s is a dead letter, with its bytes', async (topic, _, detail, headers) => {
    await fixture.installation.dispatch();
    const value = Buffer.from('who put me here?');
    await fixture.installation.broker.publish(topic, [{ key: null, value, headers }]);
    const [letter] = await eventually(async () => {
      const letters = await fixture.installation.browse('webhooks.dead-letter');
      return letters.length > 0 && letters;
    });
    expect(letter?.value).toEqual(value);
    expect(letter && readDeadLetter(letter)).toMatchObject({ reason: 'not-valid', detail, source: `${topic}/0/0` });
  });
});
