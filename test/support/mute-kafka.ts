/** A Kafka that takes connections and what is asked on them, and answers nothing. */
import { createServer, type Socket } from 'node:net';
import { listen } from './receiver.js';

export interface MuteKafka {
  /** host:port */
  readonly brokers: string;
  /** How many requests it was asked so far. */
  readonly asked: () => number;
  /** Refuses what was asked; fulfilled once the clients have gone. */
  close(): Promise<void>;
}

/** In a request: its size, the kind of request, and that kind's version come before it. */
const CORRELATION_ID_AT = 8;
const CLUSTER_AUTHORIZATION_FAILED = 31;

export async function startMuteKafka(): Promise<MuteKafka> {
  const asked: { socket: Socket; correlationId: number }[] = [];
  const server = createServer((socket) => {
    socket.on('data', (request) => asked.push({ socket, correlationId: request.readInt32BE(CORRELATION_ID_AT) }));
  });
  const listener = await listen(server);
  return {
    brokers: `127.0.0.1:${listener.port}`,
    asked: () => asked.length,
    async close() {
      // Of a connection that breaks kafkajs makes a new one, for ten seconds and more; of a refusal it does not.
      for (const { socket, correlationId } of asked) if (socket.writable) socket.write(refusal(correlationId));
      await Promise.all([...listener.sockets].map(closed));
      await listener.close();
    },
  };
}

/** Not by `once`: a client that was killed breaks its connection, and that is no failure here. */
function closed(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => socket.once('close', resolve));
}

/** To a question for the versions Kafka speaks, which is a client's first. */
function refusal(correlationId: number): Buffer {
  const response = Buffer.alloc(18);
  response.writeInt32BE(14, 0);
  response.writeInt32BE(correlationId, 4);
  response.writeInt16BE(CLUSTER_AUTHORIZATION_FAILED, 8);
  return response;
}
