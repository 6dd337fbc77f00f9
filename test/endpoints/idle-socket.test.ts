import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Dispatcher } from 'undici';
import { createAttempt } from '../../src/delivery/attempt/attempt.js';
import type { EndpointAgent, EndpointRequest } from '../../src/endpoints/endpoint-agent.js';
import { TurnLength, unreadOn } from '../../src/endpoints/idle-socket.js';
import { eventually } from '../support/clocks/eventually.js';
import { spin } from '../support/clocks/spin.js';
import { AttemptFixture, LONG, OK, requestTo, send } from '../support/scenes/attempt-fixture.js';
import type { Listener } from '../support/servers/receiver.js';

const fixture = new AttemptFixture();
afterEach(() => fixture.close());

describe('an idle connection', () => {
  let sockets: TLSSocket[];
  let ended: string[];
  let agent: EndpointAgent;
  let origin: string;
  let listener: Listener;
  let areLong: boolean;

  beforeEach(async () => {
    [sockets, ended, areLong] = [[], [], true];
    listener = await fixture.scripted((socket) => {
      if (!sockets.includes(socket)) sockets.push(socket);
      socket.write(OK);
    });
    agent = await fixture.agent({ disconnected: (_, url) => ended.push(url), turns: { areLong: () => areLong } });
    origin = `https://localhost:${listener.port}`;
    await send(agent, `${origin}/`);
    await eventually(() => agent.idleTo(origin) === 1);
  });

  /** @returns whether the request was written during the call */
  async function startsAtOnce(more: Partial<EndpointRequest> = {}): Promise<boolean> {
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
      agent.dispatch({ accountId: 42, url: `${origin}/`, origin, path: '/', method: 'POST', ...more }, handler);
    });
    const hadStarted = hasStarted;
    await over;
    return hadStarted;
  }

  test('takes a request at once if turns of the event loop take long', async () => {
    expect(await startsAtOnce()).toBe(true);
    expect(sockets).toHaveLength(1);
  });

  test.each([
    ['turns are short', false, {}],
    ['it has waited before', true, { hasWaited: true }],
  ])('takes a request after a turn if %s', async (_, long, request) => {
    areLong = long;
    expect(await startsAtOnce(request)).toBe(false);
    expect(sockets).toHaveLength(1);
  });

  test('takes an attempt that has waited after a turn', async () => {
    const dispatched: EndpointRequest[] = [];
    const dispatch = agent.dispatch.bind(agent);
    agent.dispatch = (request, handler) => {
      dispatched.push(request);
      return dispatch(request, handler);
    };
    const attempt = createAttempt({ agent, timeoutMs: LONG, now: Date.now, userAgent: 'test/1' });
    await attempt({ ...requestTo(`${origin}/`), hasWaited: true });
    expect(dispatched).toMatchObject([{ hasWaited: true }]);
  });

  test.each([
    ['a response came on it', () => sockets[0]?.write(OK)],
    ['an empty line came on it', () => sockets[0]?.write('\r\n')],
    ['the receiver closed it', () => sockets[0]?.end()],
    ['the receiver reset it', () => listener.sockets.forEach((socket) => void socket.resetAndDestroy())],
  ])('is ended, and another one takes the request, if %s unread', async (_, unasked) => {
    unasked();
    // The bytes are on their way while this process is busy.
    spin(50);
    expect(await startsAtOnce()).toBe(false);
    expect(sockets).toHaveLength(2);
    expect(ended).toEqual([`${origin}/`]);
  });

  test('is ended with all others that the receiver has closed', async () => {
    await Promise.all([startsAtOnce(), startsAtOnce()]);
    await eventually(() => agent.idleTo(origin) === 2);
    for (const socket of sockets) socket.end();
    spin(50);
    expect(await startsAtOnce()).toBe(false);
    expect(sockets).toHaveLength(3);
    await eventually(() => agent.connections === 1);
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

describe('turns of the event loop', () => {
  const clock = () => {
    let at = 0;
    const reached: (() => void)[] = [];
    const turns = new TurnLength(
      () => at,
      (next) => reached.push(next),
    );
    const waits = (ms: number) => {
      at += ms;
    };
    const passes = (ms: number) => {
      waits(ms);
      for (const next of reached.splice(0)) next();
    };
    return { turns, passes, waits, looks: () => reached.length };
  };

  test('are long if the last one was, no longer ago than a second', () => {
    const { turns, passes, waits } = clock();
    expect(turns.areLong()).toBe(false);
    passes(30);
    expect(turns.areLong()).toBe(true);
    waits(1_000);
    expect(turns.areLong()).toBe(false);
  });

  test('are looked at once each, and are short after a few short ones', () => {
    const { turns, passes, looks } = clock();
    for (const _ of [1, 2]) turns.areLong();
    expect(looks()).toBe(1);
    passes(30);
    const seen = [1, 2, 3].map(() => {
      const isLong = turns.areLong();
      passes(2);
      return isLong;
    });
    expect(seen).toEqual([true, true, false]);
  });
});
