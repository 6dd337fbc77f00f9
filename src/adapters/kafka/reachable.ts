/** Checks that a broker listens: kafkajs itself takes ten seconds and more to report that none does. */
import { connect } from 'node:net';
import { BrokerUnavailable } from '../../ports/broker.js';
import { connectionTrouble } from './kafka-errors.js';

const WITHIN_MS = 3_000;

/** @param brokers host:port @throws BrokerUnavailable if none of them accepts a connection */
export async function mustBeReachable(brokers: readonly string[]): Promise<void> {
  try {
    await Promise.any(brokers.map(connected));
  } catch (error) {
    const [first] = error instanceof AggregateError ? error.errors : [];
    const says = connectionTrouble(first)?.says ?? `no Kafka answers at BROKER_URL (${first?.code ?? 'no answer'})`;
    throw new BrokerUnavailable(says, { cause: error });
  }
}

function connected(broker: string): Promise<void> {
  const colon = broker.lastIndexOf(':');
  const host = broker.slice(0, colon).replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(broker.slice(colon + 1)), timeout: WITHIN_MS });
    const end = (settle: () => void) => {
      socket.destroy();
      settle();
    };
    socket.once('connect', () => end(resolve));
    socket.once('timeout', () => end(() => reject(new Error('no answer'))));
    socket.once('error', (error) => end(() => reject(error)));
  });
}
