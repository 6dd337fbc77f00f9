/** Projections on a server that is started without them, and under users who may not change them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonEvent } from '@eventstore/db-client';
import { certificateFor, testAuthority } from '../../support/certificates.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';
import { Users } from './access.js';
import { failure, harness } from './harness.js';
import { needsTestServer } from './own-server.js';

const { start, client: connect, onEnd } = harness();
const SOURCE = `fromCategory('account').foreachStream().when({ Counted: (state) => { state.hasCounted = true; } })`;

needsTestServer(() => {
  test('with --run-projections=None every call fails, with an error of no type', async () => {
    const client = connect((await start({ runProjections: 'none' })).url);
    const calls = [
      client.createProjection('counts', SOURCE),
      client.updateProjection('counts', SOURCE),
      client.resetProjection('counts'),
      client.enableProjection('counts'),
      client.disableProjection('counts'),
      client.getProjectionStatus('$by_category'),
      client.getProjectionState('counts'),
      client.listProjections(),
    ];
    for (const error of await Promise.all(calls.map(failure))) {
      expect(error).toMatchObject({ kind: 'UnknownError', type: 'unknown' });
    }
  });

  test('with --run-projections=System those of users are stopped, though enabled', async () => {
    const client = connect((await start({ runProjections: 'system' })).url);
    await client.createProjection('counts', SOURCE);
    await client.appendToStream('account-1', jsonEvent({ type: 'Counted', data: {} }));
    expect(await client.getProjectionStatus('counts')).toMatchObject({ status: 'Stopped (Enabled)' });
    expect(await client.getProjectionStatus('$by_category')).toMatchObject({ status: 'Running' });
    expect(await client.getProjectionState('counts', { partition: 'account-1' })).toEqual({});
  });

  test('to create one takes $ops or $admins, and the refusal is only in words', async () => {
    const { path, remove } = temporaryDirectory();
    onEnd(async () => remove());
    const ca = join(path, 'ca.pem');
    writeFileSync(ca, (await testAuthority()).cert);
    const users = new Users({ username: 'webhooks', password: 'secret' });
    const { port } = await start({ tls: await certificateFor(), users });
    const client = connect(`esdb://webhooks:secret@localhost:${port}?tls=true&tlsCAFile=${ca}`);
    expect(await failure(client.createProjection('counts', SOURCE))).toMatchObject({
      type: 'unknown',
      message: expect.stringContaining('received NotAuthorized instead'),
    });
    expect(await client.listProjections()).toHaveLength(5);
  });
});
