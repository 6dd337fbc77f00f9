import { afterEach, expect, test } from '@jest/globals';
import { describeBackbones, ENDS } from '../support/backbones.js';
import { eventually } from '../support/eventually.js';
import { deliveredPairs, startReceiver } from '../support/receiver.js';
import { run, type Service, serve } from '../support/service.js';
import { addWebhook, installation, paymentEvents, register, tokenFor } from '../support/story.js';

const ACCOUNT = 7;
const PATHS = ['/one', '/two', '/three'];

describeBackbones((backbone) => {
  let cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup();
    cleanups = [];
  });

  async function burst(count: number) {
    const receiver = await startReceiver();
    const { settings, remove } = await installation([receiver], backbone);
    cleanups.push(remove, () => receiver.close());
    const service = await serve(settings);
    cleanups.push(() => service.stop('SIGKILL'));
    const account = await register(settings, ACCOUNT);
    const token = await tokenFor(service.url, account);
    for (const path of PATHS) await addWebhook(service.url, token, { url: receiver.url + path, eventType: 'cash_in' });
    await run(settings, ['events', 'publish'], paymentEvents(ACCOUNT, count));
    return { receiver, settings, service };
  }

  async function again(settings: Parameters<typeof serve>[0]): Promise<Service> {
    const service = await serve(settings);
    cleanups.push(() => service.stop('SIGKILL'));
    return service;
  }

  test('kill -9, start: each of 500 events reaches each of 3 URLs, duplicates with their webhook-id', async () => {
    const { receiver, settings, service } = await burst(500);
    await eventually(() => receiver.requests.length > 100);
    await service.stop('SIGKILL');
    const before = receiver.requests.length;
    await again(settings);
    await eventually(() => deliveredPairs(receiver).size === 1_500, { timeout: 20_000, message: 'an event was lost' });
    for (const ids of deliveredPairs(receiver).values()) expect(ids.size).toBe(1);
    console.log(`kill -9 after ${before} of 1500 requests; lost 0, sent twice ${receiver.requests.length - 1_500}`);
  });

  test('SIGTERM: code 0, and after the next start nothing that was done is sent again', async () => {
    const { receiver, settings, service } = await burst(300);
    await eventually(() => receiver.requests.length > 50);
    expect(await service.stop('SIGTERM')).toBe(0);
    await again(settings);
    await eventually(() => deliveredPairs(receiver).size === 900, { timeout: 20_000, message: 'an event was lost' });
    expect(receiver.requests).toHaveLength(900);
  });

  test('events published while it is down are delivered when it is up again', async () => {
    const { receiver, settings, service } = await burst(1);
    await eventually(() => receiver.requests.length === PATHS.length);
    expect(await service.stop('SIGTERM')).toBe(0);
    await run(settings, ['events', 'publish'], paymentEvents(ACCOUNT, 20, 'while-down-'));
    await again(settings);
    await eventually(() => deliveredPairs(receiver).size === 21 * PATHS.length);
  });
}, ENDS);
