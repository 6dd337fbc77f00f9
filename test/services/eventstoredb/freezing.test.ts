/** A frozen server, as one that was sent SIGSTOP: it accepts connections and answers nothing on any of them. */
import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { streamNameFilter } from '@eventstore/db-client';
import { collect, event, failure, harness, numbers } from './harness.js';
import { needsTestServer } from './own-server.js';

const { start, client: connect, onEnd } = harness();
/** More than any answer takes. */
const ROUND_TRIPS = 20;
const SHORT = { deadline: 200, credentials: { username: 'a', password: 'b' } };

async function session(port: number): Promise<ClientHttp2Session> {
  const opened = connectHttp2(`http://127.0.0.1:${port}`);
  onEnd(async () => opened.destroy());
  await once(opened, 'connect');
  return opened;
}

const pong = (from: ClientHttp2Session) =>
  new Promise<void>((resolve, reject) => from.ping((error) => (error ? reject(error) : resolve())));

needsTestServer(() => {
  let server: Awaited<ReturnType<typeof start>>;
  let client: ReturnType<typeof connect>;
  beforeEach(async () => {
    server = await start();
    client = connect(server.url);
    await client.appendToStream('account-1', event(1));
  });

  test('answers no ping, by which a client finds out, until it has thawed', async () => {
    const [asked, other] = [await session(server.port), await session((await start()).port)];
    await pong(asked);
    server.faults.freeze();
    let isAnswered = false;
    const answer = pong(asked).then(() => {
      isAnswered = true;
    });
    for (let trip = 0; trip < ROUND_TRIPS; trip += 1) await pong(other);
    expect(isAnswered).toBe(false);
    server.faults.thaw();
    await answer;
  });

  test('stores and answers what was sent meanwhile once it has thawed', async () => {
    server.faults.freeze();
    expect(await failure(client.appendToStream('account-1', event(2), SHORT))).toMatchObject({
      type: 'deadline-exceeded',
    });
    const appended = client.appendToStream('account-1', event(3));
    expect(server.data.lastRevision('account-1')).toBe(0);
    server.faults.thaw();
    await appended;
    expect(numbers(await collect(client.readStream('account-1')))).toContain(3);
  });

  test('gives a subscription nothing of what others have appended', async () => {
    const sharing = await start({ data: server.data });
    const subscription = client.subscribeToAll({ filter: streamNameFilter({ prefixes: ['account-'] }) });
    const seen: unknown[] = [];
    subscription.on('data', (each) => seen.push(...numbers([each])));
    await once(subscription, 'caughtUp');
    server.faults.freeze();
    const writer = connect(sharing.url);
    const heard = collect(writer.subscribeToAll({ filter: streamNameFilter({ prefixes: ['account-'] }) }), 2);
    await writer.appendToStream('account-1', event(2));
    expect(numbers(await heard)).toEqual([1, 2]);
    for (let trip = 0; trip < ROUND_TRIPS; trip += 1) await collect(writer.readStream('account-1'));
    expect(seen).toEqual([1]);
    const next = once(subscription, 'data');
    server.faults.thaw();
    await next;
    expect(seen).toEqual([1, 2]);
    await subscription.unsubscribe();
  });

  test('can be killed', async () => {
    server.faults.freeze();
    const reading = failure(collect(client.readStream('account-1')));
    await server.kill();
    expect(await reading).toMatchObject({ type: 'unavailable' });
  });
});
