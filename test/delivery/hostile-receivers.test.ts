/** Receivers that send no response, more than is read of one, or without end what is no part of one. */
import type { TLSSocket } from 'node:tls';
import { AttemptFixture, failure, OK, send, writeForEver } from '../support/scenes/attempt-fixture.js';
import { startReceiver } from '../support/servers/receiver.js';
import { type RecordSender, recordServer } from '../support/servers/tls-records.js';

const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
const INFORMATIONAL = 'HTTP/1.1 103 Early Hints\r\n';
const informational = (bytes: number) => `${INFORMATIONAL}link: ${'a'.repeat(bytes)}\r\n\r\n`;
const head = (headers: string) => `HTTP/1.1 200 OK\r\n${headers}content-length: 0\r\n\r\n`;

const TAKEN = { kind: 'delivered', status: 200, error: null };
const TOO_MUCH = failure('invalid-response', 'too-much');

const fixture = new AttemptFixture();
afterEach(() => fixture.close());

const says = (text: string) => (socket: TLSSocket) => socket.write(text);
const endless = (start: string, text: string) => (socket: TLSSocket) => {
  socket.write(start);
  writeForEver(socket, text);
};

test.each<[string, (socket: TLSSocket) => unknown, object]>([
  [
    'a body of 64 KiB and one byte',
    says(`HTTP/1.1 200 OK\r\ncontent-length: 65537\r\n\r\n${'a'.repeat(65_537)}`),
    TAKEN,
  ],
  [
    '64 KiB of a body that then stops',
    says(`HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n${'a'.repeat(65_536)}`),
    TAKEN,
  ],
  [
    'a body without end',
    endless(CHUNKED.replace('200 OK', '410 Gone'), `3e80\r\n${'a'.repeat(16_000)}\r\n`),
    { kind: 'gone', status: 410 },
  ],
  ['headers without end', endless('HTTP/1.1 200 OK\r\nx-first: ', `x-filler: ${'a'.repeat(40)}\r\n`), TAKEN],
  ['one header without end', endless('HTTP/1.1 200 OK\r\nx-first: ', 'a'.repeat(1_000)), TAKEN],
  ['a chunk extension without end', endless(`${CHUNKED}1;`, 'extension'.repeat(1_000)), TAKEN],
  ['informational responses without end', endless('', `${INFORMATIONAL}\r\n`.repeat(1_000)), TOO_MUCH],
  ['empty lines without end', endless('', '\r\n'.repeat(1_000)), TOO_MUCH],
  ['9 informational responses', says(`${INFORMATIONAL}\r\n`.repeat(9) + head('')), TOO_MUCH],
  ['informational responses of more than 32 KiB', says(informational(16_400).repeat(2) + head('')), TOO_MUCH],
  ['a head of more than 112 KiB', says(head(`link: ${'a'.repeat(115_000)}\r\n`)), TAKEN],
  ['a head of 200 KiB without a value', says(head('a:\r\n'.repeat(50_000))), TAKEN],
  ['trailers of 200 KiB', says(`${CHUNKED}0\r\n${'a:\r\n'.repeat(50_000)}\r\n`), TAKEN],
  ['another protocol', says('220 mail ready\r\n'), failure('invalid-response', 'not-http')],
  ['a bad header', says('HTTP/1.1 200 OK\r\nno colon here\r\n\r\n'), TAKEN],
  ['two lengths', says('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'), TAKEN],
  ['length and chunks', says(CHUNKED.replace('transfer', 'content-length: 1\r\ntransfer')), TAKEN],
  [
    '101 without Upgrade',
    says('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n'),
    { kind: 'retryable', status: 101, error: null },
  ],
])(
  '%s: decided long before the deadline, by a status line if there is one, and the connection is closed',
  async (_, onData, expected) => {
    const { result, listener } = await fixture.answered(onData);
    expect(result).toMatchObject(expected);
    await listener.allClosed();
  },
);

test.each([
  ['8 informational responses', `${INFORMATIONAL}\r\n`.repeat(8) + head('')],
  ['informational responses of almost 32 KiB', informational(16_000).repeat(2) + head('')],
  ['a head of almost 64 KiB after them', informational(16_000).repeat(2) + head(`link: ${'a'.repeat(65_000)}\r\n`)],
])('%s are read', async (_, response) => {
  expect((await fixture.answered(says(response))).result).toMatchObject(TAKEN);
});

test('what comes is counted for each request: a connection may be used for long', async () => {
  const receiver = await startReceiver({ respond: () => ({ status: 200, body: 'x'.repeat(60_000) }) });
  fixture.onClose(receiver.close);
  const agent = await fixture.agent();
  for (let request = 0; request < 10; request += 1) {
    const result = await send(agent, `${receiver.url}/`);
    expect(result).toMatchObject(TAKEN);
    await result.over;
  }
  expect(receiver.sockets.size).toBe(1);
});

test('a head of many headers ends at our limit: undici would make an error for each header beyond its own', async () => {
  const listener = await fixture.scripted((socket) => {
    const header = `x-more: ${'y'.repeat(60)}\r\n`;
    socket.write(`HTTP/1.1 200 OK\r\n${header.repeat(1_400)}`);
    writeForEver(socket, header);
  });
  const agent = await fixture.agent();
  const ended = new Promise((resolve) => {
    const handler = { onRequestStart: () => undefined, onResponseError: (_: unknown, error: Error) => resolve(error) };
    agent.dispatch(
      { origin: `https://localhost:${listener.port}`, path: '/', method: 'POST', accountId: 1, url: '' },
      handler,
    );
  });
  expect(await ended).toMatchObject({ code: 'RECEIVED_TOO_MUCH' });
  await listener.allClosed();
});

describe('TLS records without content:', () => {
  async function received(answer: (sender: RecordSender) => Buffer) {
    const server = await recordServer((socket, sender) => socket.write(answer(sender)));
    const listener = await fixture.listening(server);
    const agent = await fixture.agent();
    const result = await send(agent, `https://localhost:${listener.port}/`);
    return { result, listener };
  }

  test('a hundred of KeyUpdate are read', async () => {
    const ahead = (sender: RecordSender) => Buffer.concat([sender.keyUpdates(100), sender.text(OK)]);
    expect((await received(ahead)).result).toMatchObject(TAKEN);
  });

  test('12,000 of KeyUpdate: it failed, and the connection is closed', async () => {
    const { result, listener } = await received((sender) => sender.keyUpdates(12_000));
    expect(result).toMatchObject({ kind: 'retryable', error: 'tls' });
    await listener.allClosed();
  });
});

test('a head in more than a thousand reads: it failed, and the connection is closed', async () => {
  const { result, listener } = await fixture.answered((socket) => {
    const next = () => void (socket.destroyed || socket.write('x', () => setImmediate(next)));
    socket.write('HTTP/1.1 103 Early Hints\r\nlink: ', next);
  });
  // The limit of TLS records, 11,000 of them, would say `tls`.
  expect(result).toMatchObject(failure('invalid-response', 'too-much'));
  await listener.allClosed();
});
