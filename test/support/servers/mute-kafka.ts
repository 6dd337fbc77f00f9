/** A Kafka that accepts connections and requests, and answers nothing, or what is no answer. */
import { createServer, type Socket } from 'node:net';
import { eventually } from '../clocks/eventually.js';
import { listen } from './receiver.js';

/** In a request, after its size, kind and version. */
const CORRELATION_ID_AT = 8;
const CLUSTER_AUTHORIZATION_FAILED = 31;

/** @param garbage what each connection gets before it is ended */
export async function startMuteKafka(garbage?: string) {
  const asked: { socket: Socket; correlationId: number }[] = [];
  let isClosing = false;
  const server = createServer((socket) => {
    socket.on('data', (request) => {
      if (garbage && !isClosing) socket.end(garbage);
      else asked.push({ socket, correlationId: request.readInt32BE(CORRELATION_ID_AT) });
    });
  });
  const listener = await listen(server);
  return {
    brokers: `127.0.0.1:${listener.port}`,
    /** Number of requests so far. */
    asked: () => asked.length,
    /** Refuses all requests; fulfilled once the clients have disconnected. */
    async close(): Promise<void> {
      isClosing = true;
      if (garbage) await eventually(() => asked.length > 0);
      // kafkajs reconnects after a broken connection for ten seconds or more, but not after a refusal.
      for (const { socket, correlationId } of asked) if (socket.writable) socket.write(refusal(correlationId));
      await Promise.all([...listener.sockets].map(closed));
      await listener.close();
    },
  };
}

/** Not `once`, which rejects on an error: a killed client breaks its connection, which is no failure here. */
function closed(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => socket.once('close', resolve));
}

/** A response to the request for Kafka's versions, a client's first request. */
function refusal(correlationId: number): Buffer {
  const response = Buffer.alloc(18);
  response.writeInt32BE(14, 0);
  response.writeInt32BE(correlationId, 4);
  response.writeInt16BE(CLUSTER_AUTHORIZATION_FAILED, 8);
  return response;
}
