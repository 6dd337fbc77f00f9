import type { ServerOptions } from 'node:https';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseRanges } from '../../src/endpoints/address-ranges.js';
import { type AgentOptions, EndpointAgent } from '../../src/endpoints/endpoint-agent.js';
import type { LookupAll } from '../../src/endpoints/guarded-lookup.js';
import { eventually } from '../support/clocks/eventually.js';
import { certificateFor, testAuthority } from '../support/servers/certificates.js';
import { type ReceiverOptions, startReceiver } from '../support/servers/receiver.js';
import { startSessionAverseRelay } from '../support/servers/session-averse-relay.js';

const NAME = 'hooks.shop.com';
const NAMES = [NAME, 'localhost', '127.0.0.1'];

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

/** A lookup that gives one answer after another, and then the last one for ever. */
function lookupOf(...answers: string[][]): { lookup: LookupAll; asked: string[] } {
  const asked: string[] = [];
  const lookup: LookupAll = (host, _options, callback) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)] ?? [];
    asked.push(host);
    callback(
      null,
      answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return { lookup, asked };
}

/** One request by the agent of deliveries. @returns the status, once the connection is idle */
async function postTo(agent: EndpointAgent, origin: string, accountId = 42): Promise<number> {
  const status = await new Promise<number>((resolve, reject) => {
    let answered = 0;
    agent.dispatch(
      { accountId, url: `${origin}/`, origin, path: '/', method: 'POST', body: '{}' },
      {
        onRequestStart: () => {},
        onResponseStart: (_, code) => {
          answered = code;
        },
        onResponseEnd: () => resolve(answered),
        onResponseError: (_, error) => reject(error),
      },
    );
  });
  await nextTurn(); // the connection is idle one turn of the event loop after its response
  return status;
}

async function setUp(options: Partial<AgentOptions>, receiverOptions: ReceiverOptions = {}) {
  const { cert: ca } = await testAuthority();
  const receiver = await startReceiver({ names: [NAME, '127.0.0.1'], ...receiverOptions });
  const agent = new EndpointAgent({ allowPrivate: false, connectTimeoutMs: 15_000, ca, ...options });
  cleanups.push(receiver.close, () => agent.destroy());
  const post = (host: string, accountId?: number) => postTo(agent, `https://${host}:${receiver.port}`, accountId);
  const postVia = (port: number) => postTo(agent, `https://127.0.0.1:${port}`);
  return { receiver, agent, post, postVia };
}

const FORBIDDEN = { code: 'ENDPOINT_FORBIDDEN', message: 'the endpoint is not allowed' };

const rangesOf = (...ranges: string[]) => {
  const denied = parseRanges(ranges);
  if (!denied) throw new Error('these are no ranges');
  return { denied };
};

describe.each<[string, Partial<AgentOptions>]>([
  ['without private endpoints', {}],
  ['of what the operator denies', { allowPrivate: true, ...rangesOf('127.0.0.0/29', '::1/128', 'fd00::/8') }],
])('an address that is not allowed, %s,', (_, options) => {
  test.each([
    ['a loopback address', ['127.0.0.1']],
    ['a good address and a bad one', ['93.184.215.14', '127.0.0.1']],
    ['a bad address and a good one', ['127.0.0.1', '93.184.215.14']],
    ['an address of IPv6', ['fd00::1']],
    ['a loopback address inside of IPv6', ['::ffff:127.0.0.1']],
    ['a loopback address behind DNS64', ['64:ff9b::7f00:1']],
  ])('is not connected to by a name that resolves to %s', async (__, addresses) => {
    const { receiver, post } = await setUp({ ...lookupOf(addresses), ...options });
    await expect(post(NAME)).rejects.toMatchObject(FORBIDDEN);
    expect(receiver.sockets.size).toBe(0);
  });

  test.each(['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1'])(
    'is not connected to by the literal %s, which is never looked up',
    async (host) => {
      const { lookup, asked } = lookupOf(['93.184.215.14']);
      const { receiver, post } = await setUp({ lookup, ...options });
      await expect(post(host)).rejects.toMatchObject(FORBIDDEN);
      expect(asked).toEqual([]);
      expect(receiver.sockets.size).toBe(0);
    },
  );
});

test('what the operator denies does not lift what is denied anyhow, and leaves others as they are', async () => {
  const others = rangesOf('127.0.0.2/32');
  const strict = await setUp({ ...lookupOf(['127.0.0.9']), ...others });
  await expect(strict.post(NAME)).rejects.toMatchObject(FORBIDDEN);
  expect(await (await setUp({ allowPrivate: true, ...others })).post('127.0.0.1')).toBe(200);
});

describe('with private endpoints', () => {
  test('a name is resolved once a connection, and the connection is kept', async () => {
    const { lookup, asked } = lookupOf(['127.0.0.1']);
    let connections = 0;
    const connected = () => void connections++;
    const { receiver, post } = await setUp({ lookup, allowPrivate: true, connected });
    expect([await post(NAME), await post(NAME)]).toEqual([200, 200]);
    expect(connections).toBe(1);
    expect(asked).toEqual([NAME]);
    expect(receiver.requests).toHaveLength(2);
    expect(receiver.sockets.size).toBe(1);
  });

  test('a name that resolves to a denied address later is refused then: its TLS session does not help', async () => {
    const options = { ...lookupOf(['127.0.0.1'], ['127.0.0.9']), allowPrivate: true, mostIdle: 0 };
    const { receiver, post } = await setUp({ ...options, ...rangesOf('127.0.0.9/32') });
    expect(await post(NAME)).toBe(200);
    await receiver.allClosed();
    await expect(post(NAME)).rejects.toMatchObject(FORBIDDEN);
    expect(receiver.resumed).toEqual([false]);
  });

  test('an account that has the most idle connections loses its oldest, beyond their limit', async () => {
    let connections = 0;
    const connected = () => void connections++;
    const options = { ...lookupOf(['127.0.0.1']), allowPrivate: true, mostIdle: 2, connected };
    const { agent, post } = await setUp(options, { names: NAMES });
    const [greedy, other] = [1, 2];
    await post('127.0.0.1', greedy);
    await post('localhost', other);
    await post(NAME, greedy);
    await eventually(() => agent.connections === 2);
    await post('localhost', other);
    await post(NAME, greedy);
    expect(connections).toBe(3);
    await post('127.0.0.1', greedy);
    expect(connections).toBe(4);
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'a new connection resumes the session of the last one, %s',
    async (maxVersion) => {
      const { receiver, post } = await setUp(
        { allowPrivate: true, mostIdle: 0 },
        { names: NAMES, tls: { maxVersion } },
      );
      for (const host of ['127.0.0.1', '127.0.0.1', 'localhost']) {
        await post(host);
        await receiver.allClosed();
      }
      expect(receiver.resumed).toEqual([false, true, false]);
    },
  );

  test('a handshake that fails with a session on offer is repeated without it, and the host is offered none for a while', async () => {
    const { receiver, postVia } = await setUp({ allowPrivate: true, mostIdle: 0 }, { names: NAMES });
    const relay = await startSessionAverseRelay(receiver.port);
    cleanups.push(relay.close);
    for (let n = 0; n < 22; n += 1) expect(await postVia(relay.port)).toBe(200);
    expect(relay.resets()).toBe(1);
    expect(receiver.requests).toHaveLength(22);
  });

  test('a connection is not used again after its time: its receiver may have moved', async () => {
    const connected: number[] = [];
    const { post } = await setUp({ allowPrivate: true, mostAgeMs: 0, connected: () => connected.push(1) });
    expect([await post('127.0.0.1'), await post('127.0.0.1')]).toEqual([200, 200]);
    expect(connected).toHaveLength(2);
  });

  test.each<[string, number, ServerOptions]>([
    ['our limit, though the receiver asks for ten minutes', 300, { keepAliveTimeout: 600_000 }],
    ['its receiver says, of which undici leaves 2 s for the way', 600_000, { keepAliveTimeout: 3_000 }],
  ])('a connection is kept no longer than %s', async (_, keepAliveMs, tls) => {
    const { agent, receiver, post } = await setUp({ allowPrivate: true, keepAliveMs }, { tls });
    expect([await post('127.0.0.1'), await post('127.0.0.1')]).toEqual([200, 200]);
    expect(receiver.sockets.size).toBe(1);
    await eventually(() => agent.connections === 0);
  });

  test('a connection that the server closes is noticed, and one that is refused is forgotten', async () => {
    const { agent, receiver, post } = await setUp({ allowPrivate: true });
    await post('127.0.0.1');
    expect(agent.connections).toBe(1);
    await receiver.close();
    await eventually(() => agent.connections === 0);
    await expect(post('127.0.0.1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await eventually(() => agent.connections === 0);
  });

  test('destroying the agent lets go of what is kept alive', async () => {
    const { agent, receiver, post } = await setUp({ allowPrivate: true });
    await post('127.0.0.1');
    await agent.destroy();
    await receiver.allClosed();
    await expect(post('127.0.0.1')).rejects.toMatchObject({ code: 'UND_ERR_DESTROYED' });
    // An origin that it had nothing to do with yet.
    await expect(post('localhost')).rejects.toMatchObject({ code: 'UND_ERR_DESTROYED' });
    expect(receiver.sockets.size).toBe(0);
  });

  test('an address as the host is not sent as the server name of TLS', async () => {
    const names: string[] = [];
    const SNICallback = (name: string, done: (error: null) => void) => {
      names.push(name);
      done(null);
    };
    const { post } = await setUp({ ...lookupOf(['127.0.0.1']), allowPrivate: true }, { tls: { SNICallback } });
    expect([await post('127.0.0.1'), await post(NAME)]).toEqual([200, 200]);
    expect(names).toEqual([NAME]);
  });

  test('the next address is tried where one does not answer', async () => {
    const { post } = await setUp({ ...lookupOf(['127.0.0.2', '127.0.0.1']), allowPrivate: true });
    expect(await post(NAME)).toBe(200);
  });

  test.each([
    ['no address', []],
    ['more addresses than any receiver has', Array(33).fill('127.0.0.1')],
  ])('a name that has %s is tried at none', async (_, addresses: string[]) => {
    const { receiver, post } = await setUp({ ...lookupOf(addresses), allowPrivate: true });
    await expect(post(NAME)).rejects.toMatchObject({ code: 'ENODATA' });
    expect(receiver.sockets.size).toBe(0);
  });

  test('a receiver that requires a client certificate gets the one that is set, and nothing without one', async () => {
    const { cert: ca } = await testAuthority();
    const tls = { requestCert: true, rejectUnauthorized: true, ca };
    const client = await certificateFor(['client']);
    const known = await setUp({ allowPrivate: true, ...client }, { tls });
    expect(await known.post('127.0.0.1')).toBe(200);
    const unknown = await setUp({ allowPrivate: true }, { tls });
    await expect(unknown.post('127.0.0.1')).rejects.toThrow();
    expect(unknown.receiver.requests).toEqual([]);
  });
});
