import { once } from 'node:events';
import { createServer } from 'node:net';
import { wholeAnswers, wholeAnswersSocket } from '../../../src/adapters/kafka/kafkajs-repairs/sockets.js';
import { listen } from '../../support/servers/receiver.js';

function answer(content: string): Buffer {
  const bytes = Buffer.alloc(4 + content.length);
  bytes.writeInt32BE(content.length);
  bytes.write(content, 4);
  return bytes;
}

const ANSWERS = ['four', 'an answer', 'the last one'].map(answer);
const STREAM = Buffer.concat(ANSWERS);

function read(chunks: readonly Buffer[]): Buffer[] {
  const answers: Buffer[] = [];
  const take = wholeAnswers((one) => answers.push(Buffer.from(one)));
  for (const chunk of chunks) take(chunk);
  return answers;
}

test('answers are the same however they are cut into chunks', () => {
  for (let bytes = 1; bytes <= STREAM.length; bytes += 1) {
    const count = Math.ceil(STREAM.length / bytes);
    const chunks = Array.from({ length: count }, (_, n) => STREAM.subarray(n * bytes, (n + 1) * bytes));
    expect(read(chunks)).toEqual(ANSWERS);
  }
});

test('what a listener throws fails its connection, and no other answer comes from it', async () => {
  const listener = await listen(createServer((socket) => socket.write(STREAM)));
  const about = { host: '127.0.0.1', port: listener.port, onConnect: () => undefined };
  // kafkajs gives no `ssl` where there is none, whatever its types say.
  const socket = wholeAnswersSocket(about as Parameters<typeof wholeAnswersSocket>[0]);
  const seen: Buffer[] = [];
  socket.on('data', (bytes) => {
    seen.push(bytes);
    throw new Error('not taken');
  });
  const [error] = await once(socket, 'error');
  expect(error).toEqual(new Error('not taken'));
  expect(seen).toEqual(ANSWERS.slice(0, 1));
  await listener.close();
});
