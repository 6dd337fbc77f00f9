/** What the port says of a server that folds nothing, and of a user who may not do what is asked. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { AccessDeniedError, type EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { connect, disconnect } from '../../../src/adapters/eventstoredb/client.js';
import { EventStoreDbProjections } from '../../../src/adapters/eventstoredb/projection-server.js';
import { StoreRefused } from '../../../src/ports/event-store.js';
import { ProjectionMissing, ProjectionsOff } from '../../../src/ports/projection-server.js';
import { Users } from '../../services/eventstoredb/access.js';
import type { EventStoreOptions } from '../../services/eventstoredb/event-store-server.js';
import { needsTestServer, startOwnServer, VERSIONS } from '../../services/eventstoredb/own-server.js';
import { eventually } from '../../support/clocks/eventually.js';
import { temporaryDirectory } from '../../support/scenes/temporary-directory.js';
import { certificateFor, testAuthority } from '../../support/servers/certificates.js';

const SOURCE = `fromCategory('account').foreachStream().when({ Counted: (state) => { state.hasCounted = true; } })`;
const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function open(options: EventStoreOptions = {}, urlOf = ({ url }: { url: string; port: number }) => url) {
  const server = await startOwnServer(options);
  ends.push(() => server.stop());
  const client: EventStoreDBClient = connect(urlOf(server));
  ends.push(() => disconnect(client));
  return { ...server, client, projections: new EventStoreDbProjections(client) };
}

test('the source that runs is the one that was put there last, by whoever did', async () => {
  const { client, projections } = await open();
  await projections.put('counts', SOURCE);
  expect(await projections.runningSource('counts')).toBe(SOURCE);
  await client.updateProjection('counts', `${SOURCE}.outputState()`);
  for (let times = 0; times < 25; times += 1) await projections.start('counts');
  expect(await projections.runningSource('counts')).toBe(`${SOURCE}.outputState()`);
});

test('a source that this user may not read is null', async () => {
  const { client, projections } = await open();
  await projections.put('counts', SOURCE);
  const refused = Readable.from([]).destroy(new AccessDeniedError());
  jest.spyOn(client, 'readStream').mockReturnValue(refused as unknown as ReturnType<typeof client.readStream>);
  expect(await projections.runningSource('counts')).toBeNull();
});

describe.each(VERSIONS)('on a %s', (version) => {
  test('a projection that is not there has no status, and every other call rejects with ProjectionMissing', async () => {
    const { projections } = await open({ version });
    expect(await projections.status('counts')).toBeNull();
    const { start, stop, reset } = projections;
    for (const call of [start, stop, reset])
      await expect(call.call(projections, 'counts')).rejects.toThrow(ProjectionMissing);
    await expect(projections.state('counts', 'account-1')).rejects.toThrow(ProjectionMissing);
    expect(await projections.put('counts', SOURCE)).toBe('created');
    expect(await projections.put('counts', SOURCE)).toBe('updated');
  });

  test('a source that does not compile is a fault, though a 23.10 has no status for it', async () => {
    const { client, projections } = await open({ version });
    await client.createProjection('counts', 'fromCategory(');
    const status = await projections.status('counts');
    const progress = version === '25' ? 0 : null;
    expect(status).toMatchObject({ status: expect.stringMatching(/^Faulted/), progress });
    expect(status?.reason).not.toBe('');
    expect(await projections.folding()).toBe('on');
  });
});

test('what is appended before the standard projections run is folded once they do', async () => {
  const { client, projections } = await open();
  await projections.put('counts', SOURCE);
  await client.appendToStream('account-1', jsonEvent({ type: 'Counted', data: {} }));
  await eventually(async () => isDeepStrictEqual(await projections.state('counts', 'account-1'), { hasCounted: true }));
});

test('$by_category is stopped: nothing of a category is folded', async () => {
  const { client, projections } = await open();
  await client.disableProjection('$by_category');
  expect(await projections.folding()).toBe('no-categories');
});

needsTestServer(() => {
  test('projections are off: each call says so', async () => {
    const { projections } = await open({ runProjections: 'none' });
    expect(await projections.folding()).toBe('off');
    const calls = [
      projections.put('counts', SOURCE),
      projections.status('counts'),
      projections.start('counts'),
      projections.stop('counts'),
      projections.reset('counts'),
      projections.state('counts', 'account-1'),
    ];
    await Promise.all(calls.map((call) => expect(call).rejects.toThrow(ProjectionsOff)));
  });

  test('a user who may not change projections is refused, and told what it takes', async () => {
    const folder = temporaryDirectory();
    ends.push(() => folder.remove());
    const ca = join(folder.path, 'ca.pem');
    writeFileSync(ca, (await testAuthority()).cert);
    const users = new Users({ username: 'webhooks', password: 'secret' });
    const options = { tls: await certificateFor(), users };
    const { projections } = await open(
      options,
      ({ port }) => `esdb://webhooks:secret@localhost:${port}?tls=true&tlsCAFile=${ca}`,
    );
    const refused = projections.put('counts', SOURCE);
    await expect(refused).rejects.toThrow(StoreRefused);
    await expect(refused).rejects.toThrow(/may not change projections: this requires \$ops or \$admins/);
  });
});
