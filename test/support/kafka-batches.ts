/** The batches of a Kafka topic, from the broker's own files (https://kafka.apache.org/documentation/#recordbatch). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Batch {
  readonly partition: number;
  readonly codec: string;
}

const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'];
/** The base offset, and the length of the rest. */
const HEAD = 12;
const ATTRIBUTES = 21;
const CODEC_BITS = 7;

/** @param folder the broker's data folder, as in startKafka */
export function batchesOf(folder: string, topic: string): Batch[] {
  const logs = join(folder, 'logs');
  const partitions = readdirSync(logs).filter((name) => name.replace(/-\d+$/, '') === topic);
  return partitions.flatMap((name) => {
    const files = readdirSync(join(logs, name)).filter((file) => file.endsWith('.log'));
    const partition = Number(name.slice(topic.length + 1));
    const codecs = files.flatMap((file) => codecsIn(readFileSync(join(logs, name, file))));
    return codecs.map((codec) => ({ partition, codec }));
  });
}

function codecsIn(bytes: Buffer): string[] {
  const codecs: string[] = [];
  for (let at = 0; at + HEAD < bytes.length; at += HEAD + bytes.readInt32BE(at + 8)) {
    codecs.push(CODECS[bytes.readInt16BE(at + ATTRIBUTES) & CODEC_BITS] ?? 'unknown');
  }
  return codecs;
}
