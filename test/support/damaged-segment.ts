/** Damages a Kafka's disk: changes the last byte of a partition's log, as a bad disk or a bug may do. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OwnKafka } from './own-kafka.js';

export interface Segment {
  readonly topic: string;
  readonly partition: number;
}

/** Changes the log of a running Kafka, which reads its file through the same pages. */
export function damageLastByte({ folder }: Pick<OwnKafka, 'folder'>, { topic, partition }: Segment): void {
  const logs = join(folder, 'logs', `${topic}-${partition}`);
  const file = readdirSync(logs).find((name) => name.endsWith('.log'));
  if (!file) throw new Error(`${topic}-${partition} has no log`);
  const path = join(logs, file);
  const bytes = readFileSync(path);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 0xff;
  writeFileSync(path, bytes);
}
