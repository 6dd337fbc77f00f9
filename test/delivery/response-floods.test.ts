/** Receivers that send without end what is no part of a response yet, or no part of its body. */
import { AttemptFixture, failure, LONG, OK, send, writeForEver } from '../support/attempt-fixture.js';
import { startReceiver } from '../support/receiver.js';
import { type RecordSender, recordServer } from '../support/tls-records.js';

const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

const TAKEN = { kind: 'delivered', status: 200 };

const fixture = new AttemptFixture();
afterEach(() => fixture.close());

test.each([
  ['informational responses', '', 'HTTP/1.1 102 Processing\r\n\r\n', failure('invalid-response', 'too-much')],
  ['empty lines', '', '\r\n', failure('invalid-response', 'too-much')],
  ['a chunk extension', `${CHUNKED}1;`, 'extension', TAKEN],
])('%s: decided long before the deadline, and the connection is closed', async (_, start, text, expected) => {
  const listener = await fixture.scripted((socket) => {
    socket.write(start || text);
    writeForEver(socket, text.repeat(1_000));
  });
  const result = await send(await fixture.agent(), `https://localhost:${listener.port}/`);
  expect(result).toMatchObject(expected);
  await listener.allClosed();
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

const INFORMATIONAL = 'HTTP/1.1 103 Early Hints\r\n';
const informational = (bytes: number) => `${INFORMATIONAL}link: ${'a'.repeat(bytes)}\r\n\r\n`;
const head = (headers: string) => `HTTP/1.1 200 OK\r\n${headers}content-length: 0\r\n\r\n`;

test.each([
  ['8 informational responses', `${INFORMATIONAL}\r\n`.repeat(8) + head('')],
  ['informational responses of almost 32 KiB', informational(16_000).repeat(2) + head('')],
  ['a head of almost 64 KiB after them', informational(16_000).repeat(2) + head(`link: ${'a'.repeat(65_000)}\r\n`)],
])('%s are read', async (_, response) => {
  const listener = await fixture.scripted((socket) => socket.write(response));
  const result = await send(await fixture.agent(), `https://localhost:${listener.port}/`);
  expect(result).toMatchObject({ kind: 'delivered' });
});

test.each([
  ['9 informational responses', `${INFORMATIONAL}\r\n`.repeat(9) + head('')],
  ['informational responses of more than 32 KiB', informational(16_400).repeat(2) + head('')],
])('%s: what follows is not read, and the connection is closed', async (_, response) => {
  const listener = await fixture.scripted((socket) => socket.write(response));
  const result = await send(await fixture.agent(), `https://localhost:${listener.port}/`);
  expect(result).toMatchObject(failure('invalid-response', 'too-much'));
  await listener.allClosed();
});

test.each([
  ['a head of more than 112 KiB', head(`link: ${'a'.repeat(115_000)}\r\n`)],
  ['a head of 200 KiB without a value', head('a:\r\n'.repeat(50_000))],
  ['trailers of 200 KiB', `${CHUNKED}0\r\n${'a:\r\n'.repeat(50_000)}\r\n`],
])('%s: the status line decides, and the connection is closed', async (_, response) => {
  const listener = await fixture.scripted((socket) => socket.write(response));
  const result = await send(await fixture.agent(), `https://localhost:${listener.port}/`);
  expect(result).toMatchObject(TAKEN);
  await listener.allClosed();
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
    agent.dispatch({ origin: `https://localhost:${listener.port}`, path: '/', method: 'POST', accountId: 1 }, handler);
  });
  expect(await ended).toMatchObject({ code: 'RECEIVED_TOO_MUCH' });
  await listener.allClosed();
});

describe('TLS records without content:', () => {
  async function received(answer: (sender: RecordSender) => Buffer) {
    const server = await recordServer((socket, sender) => socket.write(answer(sender)));
    const listener = await fixture.listening(server);
    // The server computes its flood in this process.
    const agent = await fixture.agent({ stallMs: LONG });
    const result = await send(agent, `https://localhost:${listener.port}/`);
    return { result, listener };
  }
  const ahead = (response: string, flood: (sender: RecordSender) => Buffer) => (sender: RecordSender) =>
    Buffer.concat([flood(sender), sender.text(response)]);

  test.each([
    ['a hundred of KeyUpdate', (sender: RecordSender) => sender.keyUpdates(100)],
    ['six tickets, beside the two of the handshake', (sender: RecordSender) => sender.sessionTickets(6)],
  ])('%s are read', async (_, flood) => {
    expect((await received(ahead(OK, flood))).result).toMatchObject(TAKEN);
  });

  test('12,000 of KeyUpdate: it failed, and the connection is closed', async () => {
    const { result, listener } = await received((sender) => sender.keyUpdates(12_000));
    expect(result).toMatchObject({ kind: 'retryable', error: 'tls' });
    await listener.allClosed();
  });
});

test('a head in more than a thousand reads: it failed, and the connection is closed', async () => {
  const listener = await fixture.scripted((socket) => {
    const next = () => void (socket.destroyed || socket.write('x', () => setImmediate(next)));
    socket.write('HTTP/1.1 103 Early Hints\r\nlink: ', next);
  });
  const result = await send(await fixture.agent(), `https://localhost:${listener.port}/`);
  // The limit of TLS records, 11,000 of them, would say `tls`.
  expect(result).toMatchObject(failure('invalid-response', 'too-much'));
  await listener.allClosed();
});
