/** A Kafka of one node without topics, for wire-level tests: the test handles each response. */
import { createServer, type Socket } from 'node:net';
import { listen } from './receiver.js';

/** Sends a response of Kafka, or the test's variant of it. */
export type Send = (socket: Socket, answer: Buffer) => unknown;

const METADATA = 3;
const API_VERSIONS = 18;

/** @param sendMetadata sends the responses about nodes and topics; the others are sent unchanged */
export async function startEmptyKafka(sendMetadata: Send) {
  const server = createServer((socket) => {
    socket.on('data', (request) => {
      const [kind, correlationId] = [request.readInt16BE(4), request.readInt32BE(8)];
      if (kind === API_VERSIONS) socket.write(answer(correlationId, versions()));
      else sendMetadata(socket, answer(correlationId, metadata(listener.port)));
    });
  });
  const listener = await listen(server);
  return { brokers: `127.0.0.1:${listener.port}`, close: listener.close };
}

function answer(correlationId: number, content: Buffer): Buffer {
  return Buffer.concat([int32(4 + content.length), int32(correlationId), content]);
}

/** Version 2: no error, two kinds of request with their lowest and highest version, no throttling. */
function versions(): Buffer {
  const kinds = [API_VERSIONS, 0, 2, METADATA, 1, 1].map(int16);
  return Buffer.concat([int16(0), int32(2), ...kinds, int32(0)]);
}

/** Version 1: the node (id, host, port, no rack), the controller's id, and no topics. It ends with eight zeros. */
function metadata(port: number): Buffer {
  const host = '127.0.0.1';
  const node = [int32(0), int16(host.length), Buffer.from(host), int32(port), int16(-1)];
  return Buffer.concat([int32(1), ...node, int32(0), int32(0)]);
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
