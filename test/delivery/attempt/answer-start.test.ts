import { createAttempt } from '../../../src/delivery/attempt/attempt.js';
import { AttemptFixture, LONG, requestTo } from '../../support/scenes/attempt-fixture.js';

const fixture = new AttemptFixture();
afterEach(() => fixture.close());

/** Of one attempt, whose answer is this. */
async function responseTo(answer: string | Buffer, timeoutMs = LONG): Promise<string | undefined> {
  const { result } = await fixture.answered((socket) => socket.write(answer), timeoutMs);
  return result.response;
}

const failed = (body: string | Buffer, head = `content-length: ${body.length}`) =>
  Buffer.concat([Buffer.from(`HTTP/1.1 500 No\r\n${head}\r\n\r\n`), Buffer.from(body)]);

test('a 2xx has one where it is asked for, whatever it is slow with', async () => {
  const listener = await fixture.scripted((socket) =>
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9000\r\n\r\ntaken'),
  );
  const attempt = createAttempt({ agent: await fixture.agent(), timeoutMs: LONG, now: Date.now, userAgent: 'test/1' });
  const request = { ...requestTo(`https://localhost:${listener.port}/`), keepsAnswer: true };
  expect(await attempt(request)).toMatchObject({ kind: 'delivered', status: 200, response: 'taken' });
});

describe('the start of the answer to a failed attempt', () => {
  test.each([
    ['is the body, if this is short', failed('{"error":"no"}'), '{"error":"no"}'],
    ['is the first 1,024 bytes of a longer one', failed('x'.repeat(5_000)), 'x'.repeat(1_024)],
    ['has no character that is cut at its end', failed(`${'x'.repeat(1_023)}é`), 'x'.repeat(1_023)],
    ['has U+FFFD for what is no UTF-8', failed(Buffer.from([0x61, 0xff, 0x62])), 'a\ufffdb'],
    ['keeps a byte order mark', failed(Buffer.from('\ufeffa')), '\ufeffa'],
    [
      'is as it was sent: what says to be compressed is not',
      failed('raw', 'content-encoding: gzip\r\ncontent-length: 3'),
      'raw',
    ],
    ['is also that of a redirection', 'HTTP/1.1 302 Moved\r\ncontent-length: 4\r\n\r\nthen', 'then'],
    ['is also that of a 410', 'HTTP/1.1 410 Gone\r\ncontent-length: 4\r\n\r\ngone', 'gone'],
    ['does not exist without a body', failed(''), undefined],
    ['is not kept of a 2xx', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok', undefined],
  ])('%s', async (_, answer, expected) => {
    expect(await responseTo(answer)).toBe(expected);
  });

  test('comes although the body never ends', async () => {
    expect(await responseTo(failed('why', 'content-length: 9000'), 1_000 * LONG)).toBe('why');
  });

  test('comes although the receiver breaks the body off', async () => {
    const { result } = await fixture.answered((socket) => socket.end(failed('why', 'content-length: 9000')));
    expect(result).toMatchObject({ status: 500, response: 'why' });
  });

  test('arrives in parts', async () => {
    const { result } = await fixture.answered((socket) => {
      socket.write(failed('one', 'content-length: 6'));
      setImmediate(() => socket.write('two'));
    });
    expect(result).toMatchObject({ status: 500, response: 'onetwo' });
  });

  test('does not make the attempt longer: its duration ends with the head', async () => {
    const listener = await fixture.scripted((socket) => socket.write(failed('why', 'content-length: 9000')));
    let reads = 0;
    // The second reading is the one after the head.
    const now = () => [1_000, 1_005][reads++] ?? 9_000;
    const attempt = createAttempt({ agent: await fixture.agent(), timeoutMs: LONG, now, userAgent: 'test/1' });
    expect(await attempt(requestTo(`https://localhost:${listener.port}/`))).toMatchObject({ durationMs: 5 });
  });
});
