import { AttemptFixture, failure, send, writeForEver } from '../support/attempt-fixture.js';

const TAKEN = { kind: 'delivered', status: 200 };

const fixture = new AttemptFixture();
afterEach(() => fixture.close());

describe('too much is not read', () => {
  test.each([
    ['a body of 64 KiB and one byte', `content-length: 65537\r\n\r\n${'a'.repeat(65_537)}`],
    ['the first 64 KiB of a body that then stops', `content-length: 99999\r\n\r\n${'a'.repeat(65_536)}`],
  ])('%s is complete, and its connection is closed', async (_, rest) => {
    const listener = await fixture.scripted((socket) => socket.write(`HTTP/1.1 200 OK\r\n${rest}`));
    const result = await send(await fixture.agent(), `https://localhost:${listener.port}/`);
    expect(result).toMatchObject({ kind: 'delivered', status: 200, error: null });
    await listener.allClosed();
  });

  test('an endless body is complete, and its connection is closed', async () => {
    const chunk = `${(16_000).toString(16)}\r\n${'a'.repeat(16_000)}\r\n`;
    const listener = await fixture.scripted((socket) => {
      socket.write('HTTP/1.1 410 Gone\r\ntransfer-encoding: chunked\r\n\r\n');
      writeForEver(socket, chunk);
    });
    const result = await send(await fixture.agent(), `https://localhost:${listener.port}/`);
    expect(result).toMatchObject({ kind: 'gone', status: 410, error: null });
    await listener.allClosed();
  });

  test.each([
    ['many headers', 'x-filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n'],
    ['one header', 'a'.repeat(1000)],
  ])('endless headers: %s', async (_, text) => {
    const listener = await fixture.scripted((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx-first: ');
      writeForEver(socket, text);
    });
    const result = await send(await fixture.agent(), `https://localhost:${listener.port}/`);
    expect(result).toMatchObject({ kind: 'delivered', status: 200 });
    await listener.allClosed();
  });
});

describe('what is no HTTP response', () => {
  test.each([
    ['another protocol', '220 mail ready\r\n', failure('invalid-response', 'not-http')],
    ['a bad header', 'HTTP/1.1 200 OK\r\nno colon here\r\n\r\n', TAKEN],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab', TAKEN],
    ['length and chunks', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n', TAKEN],
    [
      '101 without Upgrade',
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
      { kind: 'retryable', status: 101, error: null },
    ],
  ])('%s closes the connection, and a status line decides', async (_, response, expected) => {
    const listener = await fixture.scripted((socket) => socket.write(response));
    const result = await send(await fixture.agent(), `https://localhost:${listener.port}/`);
    expect(result).toMatchObject(expected);
    await listener.allClosed();
  });
});
