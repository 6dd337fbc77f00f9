import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Dispatcher } from 'undici';
import type { EndpointAgent } from '../../src/endpoints/endpoint-agent.js';
import { TurnLength, unreadOn } from '../../src/endpoints/idle-socket.js';
import { spin } from '../support/clocks/spin.js';
import { AttemptFixture, OK, send } from '../support/scenes/attempt-fixture.js';
import type { Listener } from '../support/servers/receiver.js';

const fixture = new AttemptFixture();
afterEach(() => fixture.close());

describe('an idle connection', () => {
  let sockets: TLSSocket[];
  let ended: string[];
  let agent: EndpointAgent;
  let origin: string;
  let listener: Listener;

  beforeEach(async () => {
    [sockets, ended] = [[], []];
    listener = await fixture.scripted((socket) => {
      if (!sockets.includes(socket)) sockets.push(socket);
      socket.write(OK);
    });
    agent = await fixture.agent({ disconnected: (_, url) => ended.push(url) });
    origin = `https://localhost:${listener.port}`;
    await send(agent, `${origin}/`);
    await isIdle();
  });

  /** @returns whether the request was written during the call */
  const startsAtOnce = (hasWaited = false) => {
    let hasStarted = false;
    const over = new Promise<void>((resolve, reject) => {
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart: () => {
          hasStarted = true;
        },
        onResponseStart: () => undefined,
        onResponseData: () => undefined,
        onResponseEnd: () => resolve(),
        onResponseError: (_, error) => reject(error),
      };
      agent.dispatch({ accountId: 42, url: `${origin}/`, origin, path: '/', method: 'POST', hasWaited }, handler);
    });
    return { hasStarted, over };
  };

  const isIdle = async () => {
    while (agent.idleTo(origin) === 0) await new Promise(setImmediate);
  };

  /** A request in a turn of the event loop that takes long. */
  const longTurn = async () => {
    const { over } = startsAtOnce();
    spin(50);
    await over;
    await isIdle();
  };

  test('takes a request at once if turns of the event loop take long', async () => {
    await longTurn();
    const { hasStarted, over } = startsAtOnce();
    expect(hasStarted).toBe(true);
    await over;
    expect(sockets).toHaveLength(1);
  });

  test('takes a request after a turn if that has waited before', async () => {
    await longTurn();
    const { hasStarted, over } = startsAtOnce(true);
    expect(hasStarted).toBe(false);
    await over;
    expect(sockets).toHaveLength(1);
  });

  test.each([
    ['a response came on it', () => sockets[0]?.write(OK)],
    ['the receiver closed it', () => sockets[0]?.end()],
    ['the receiver reset it', () => listener.sockets.forEach((socket) => void socket.resetAndDestroy())],
  ])('is ended, and another one takes the request, if %s unread', async (_, unasked) => {
    await longTurn();
    unasked();
    // The bytes are on their way while this process is busy.
    spin(50);
    const { hasStarted, over } = startsAtOnce();
    expect(hasStarted).toBe(false);
    await over;
    expect(sockets).toHaveLength(2);
    expect(ended).toEqual([`${origin}/`]);
  });
});

describe('unread on a socket is', () => {
  const pair = async (): Promise<[Socket, Socket]> => {
    const server = createServer();
    const { port } = await fixture.listening(server);
    const client = connect(port, '127.0.0.1');
    const [[peer]] = await Promise.all([once(server, 'connection'), once(client, 'connect')]);
    fixture.onClose(async () => void client.destroy());
    return [client, peer];
  };

  test('nothing, until something comes', async () => {
    const [client, peer] = await pair();
    expect(unreadOn(client)).toBe('nothing');
    peer.write('x');
    spin(50);
    expect(unreadOn(client)).toBe('something');
    expect(unreadOn(client)).toBe('nothing');
  });

  test('something once the other side has ended, and unknown without a descriptor', async () => {
    const [client, peer] = await pair();
    peer.destroy();
    spin(50);
    expect(unreadOn(client)).toBe('something');
    client.destroy();
    expect(unreadOn(client)).toBe('unknown');
  });

  test('found without a change of the stacks of errors', async () => {
    const [client] = await pair();
    const { stackTraceLimit } = Error;
    unreadOn(client);
    expect(Error.stackTraceLimit).toBe(stackTraceLimit);
  });
});

describe('a turn of the event loop is long', () => {
  const clock = () => {
    let at = 0;
    const reached: (() => void)[] = [];
    const turns = new TurnLength(
      () => at,
      (next) => reached.push(next),
    );
    const passes = (ms: number) => {
      at += ms;
      for (const next of reached.splice(0)) next();
    };
    const waits = (ms: number) => {
      at += ms;
    };
    return { turns, passes, waits, looks: () => reached.length };
  };

  test('if the last one was, and no longer ago than a second', () => {
    const { turns, passes, waits } = clock();
    expect(turns.isLong()).toBe(false);
    passes(30);
    expect(turns.isLong()).toBe(true);
    waits(1_000);
    expect(turns.isLong()).toBe(false);
  });

  test('until a short one has passed, and is looked at once in a turn', () => {
    const { turns, passes, looks } = clock();
    for (const _ of [1, 2]) turns.isLong();
    expect(looks()).toBe(1);
    passes(30);
    turns.isLong();
    passes(2);
    expect(turns.isLong()).toBe(false);
  });
});
