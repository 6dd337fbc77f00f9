/** Accounts whose stream an operator deletes, truncates or lets expire are set aside; every other account goes on. */
import { EventStoreDBClient } from '@eventstore/db-client';
import { disconnect } from '../../../src/adapters/eventstoredb/client.js';
import { AccountUnreadable } from '../../../src/read-model/account-unreadable.js';
import { createAccounts } from '../../../src/read-model/accounts.js';
import { accountStream } from '../../../src/webhooks/events.js';
import { SERVER_VERSIONS } from '../../services/eventstoredb/own-server.js';
import { Installation } from '../../support/eventstoredb-installation.js';
import { eventually } from '../../support/eventually.js';

const STREAM = accountStream(1);

describe.each(SERVER_VERSIONS)('%s', (version) => {
  let service: Installation;
  let client: EventStoreDBClient;

  beforeEach(async () => {
    service = await Installation.start(version);
    client = EventStoreDBClient.connectionString(service.url);
    for (const account of [1, 1, 2, 2]) await service.append(account);
    await service.passHead();
  });
  afterEach(async () => {
    await disconnect(client);
    await service.end();
  });

  const why = () => service.host.known.setAside.get(STREAM)?.why;
  const isWhole = () => service.host.known.cached(STREAM)?.revision === 1;

  /** What else hides a stream: hidden-streams.test.ts. */
  test('a deletion sets one account aside, at once and after a restart, and no other', async () => {
    await client.deleteStream(STREAM);
    const expected = 'its stream cannot be read: it was deleted';
    await eventually(() => why() === expected);
    await expect(service.host.known.latest(STREAM)).rejects.toThrow(AccountUnreadable);
    expect(createAccounts(service.host.known).unreadable(1)).toBe(`account 1 is set aside: ${expected}`);
    await service.append(2);
    await service.passHead();
    await service.stopProcess();
    await service.startProcess();
    await service.passHead();
    expect([why(), service.refused]).toEqual([expected, null]);
    expect(service.host.known.cached(accountStream(2))?.revision).toBe(2);
  });

  test('an account that was put aside is back once its stream is whole again', async () => {
    await client.deleteStream(STREAM);
    await eventually(() => why());
    await client.setStreamMetadata(STREAM, {});
    await client.setStreamMetadata(STREAM, {});
    await eventually(() => why() === undefined && isWhole());
    await service.append(1);
    await service.passHead();
    expect(service.host.known.cached(STREAM)?.revision).toBe(2);
  });

  test('an expiry, which no metadata announces, is noticed at the next call, and its end at the next start', async () => {
    service.data.append(`$$${STREAM}`, [AGED]);
    service.data.age(STREAM, 10_000);
    await expect(service.host.known.latest(STREAM)).rejects.toThrow(/expired: its metadata has a \$maxAge of 5 s/);
    service.data.age(STREAM, -10_000);
    await service.stopProcess();
    await service.startProcess();
    await eventually(() => why() === undefined && isWhole());
  });
});

const AGED = {
  ...{ id: '00000000-0000-4000-8000-000000000000', type: '$metadata', contentType: 'application/json' },
  ...{ data: Buffer.from('{"$maxAge":5}'), metadata: Buffer.from('') },
};
