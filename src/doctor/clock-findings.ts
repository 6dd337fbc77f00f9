/**
 * Compares the clock of the service with those of Kafka's brokers. An entry of the deliveries topic holds the time of its attempt by the
 * service's clock, and its record the later time at which a broker stored it: a service that stores an entry before it was made is ahead.
 */
import { readLogRecord } from '../delivery/log/log-record.js';
import type { ReceivedRecord } from '../ports/broker.js';
import { type Finding, warn } from './check.js';

const TOLERANCE_MS = 5_000;
const SET_CLOCKS = 'synchronize the clocks of this machine and of the brokers by NTP';

interface Clocks {
  /** Times of the same moment, or of one after the other; ms since the epoch. */
  readonly service: number;
  readonly broker: number;
}

/** @param newest records of the deliveries topic @param now ms since the epoch */
export function clockFindings(newest: readonly ReceivedRecord[], now: number): readonly Finding[] {
  const written = newest.flatMap(readClocks);
  const [ahead] = written.sort((one, other) => other.service - other.broker - (one.service - one.broker));
  const latest = Math.max(0, ...newest.map(({ timestamp }) => timestamp));
  return [
    ...(ahead && ahead.service - ahead.broker > TOLERANCE_MS ? [differ('ahead of', ahead)] : []),
    ...(latest - now > TOLERANCE_MS ? [differ('behind', { service: now, broker: latest })] : []),
  ];
}

function readClocks(record: ReceivedRecord): Clocks[] {
  const made = readLogRecord(record).deliveries.flatMap(({ attempt }) => (attempt ? [Date.parse(attempt.at)] : []));
  return made.length === 0 ? [] : [{ service: Math.max(...made), broker: record.timestamp }];
}

function differ(how: 'ahead of' | 'behind', { service, broker }: Clocks): Finding {
  const seconds = Math.round(Math.abs(service - broker) / 1_000);
  const [own, theirs] = [service, broker].map((time) => new Date(time).toISOString());
  return warn(`the service's clock (${own}) is ${seconds} s ${how} the brokers' clock (${theirs})`, SET_CLOCKS);
}
