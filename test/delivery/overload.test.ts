/** More events than this process can deliver, to URLs that are well. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { AttemptResult } from '../../src/delivery/attempt.js';
import { EndpointGate } from '../../src/delivery/endpoint-gate.js';
import { AccountFixture } from '../support/account-fixture.js';
import { ACCOUNT, DELIVERED } from '../support/delivery-samples.js';
import { eventually } from '../support/eventually.js';
import { payments } from '../support/poison.js';

const EVENTS = 3_000;
const TIER = 'webhooks.retry.1h';

let fixture: AccountFixture;
beforeEach(async () => {
  fixture = await AccountFixture.open();
});
afterEach(() => fixture.close());

/** Attempts that end when it is told, through a gate with one place. */
async function dispatchSlowly(isBusy: () => boolean) {
  await fixture.installation.webhook({ id: 1, accountId: ACCOUNT, url: 'https://hooks.shop.com/in' });
  const gate = new EndpointGate({ total: 1, perEndpoint: 1 });
  let [attempts, mostWaiting] = [0, 0];
  let goOn: () => void = () => undefined;
  const goingOn = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const attempt = async (): Promise<AttemptResult> => {
    attempts += 1;
    mostWaiting = Math.max(mostWaiting, gate.waiting);
    await goingOn;
    return DELIVERED;
  };
  await fixture.installation.dispatch({ gate, attempt, isBusy });
  await fixture.installation.publish(...payments(EVENTS));
  return { gate, goOn, seen: () => ({ attempts, mostWaiting }) };
}

const putOff = async () => (await fixture.installation.browse(TIER)).length;

test('while the process is busy records wait in their topic: none is put off, and all are delivered', async () => {
  const { gate, goOn, seen } = await dispatchSlowly(() => true);
  await eventually(() => gate.waiting > 1_500);
  goOn();
  await eventually(() => seen().attempts === EVENTS);
  expect(await putOff()).toBe(0);
  expect(seen().mostWaiting).toBeLessThan(1_600);
});

test('while it has time they are taken: what a line does not hold is put off, and holds nobody else', async () => {
  const { gate, goOn, seen } = await dispatchSlowly(() => false);
  await eventually(async () => (await putOff()) === EVENTS - 2_001);
  expect(gate.waiting).toBe(2_000);
  goOn();
  await eventually(() => seen().attempts === 2_001);
});
