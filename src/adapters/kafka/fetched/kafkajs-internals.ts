/**
 * What is used of kafkajs beyond its API: 2.2.4, pinned, its last release. It has no hook between a fetch and its batches,
 * and there all partitions of a fetch fail with one batch (docs/decisions/0005).
 */
import { createRequire } from 'node:module';
import type { KafkaMessage } from 'kafkajs';

const require = createRequire(import.meta.url);

export interface Decoder {
  readInt8(): number;
  readInt16(): number;
  readInt32(): number;
  readInt64(): bigint;
  readString(): string | null;
  readBytes(length: number): Buffer;
  readArray<T>(read: (decoder: Decoder) => T): T[];
  readArrayAsync<T>(read: (decoder: Decoder) => Promise<T>): Promise<T[]>;
}

interface Response {
  readonly decode: (raw: Buffer) => Promise<unknown>;
  readonly parse: (decoded: unknown) => Promise<unknown>;
}

interface Call {
  readonly response: Response;
}

/** One kind of request, in each of its versions. */
export interface Protocol {
  protocol: (of: { version: number }) => ((parameters: unknown) => Call) | undefined;
}

export const Decoder = require('kafkajs/src/protocol/decoder') as new (bytes: Buffer) => Decoder;
export const fetchProtocol = require('kafkajs/src/protocol/requests/fetch') as Protocol;
/** A batch of format 2, the only one since Kafka 0.11. */
export const decodeBatch = require('kafkajs/src/protocol/recordBatch/v0/decoder') as (
  decoder: Decoder,
) => Promise<{ readonly records: KafkaMessage[] }>;
/** What a topic may still hold from before that. */
export const decodeOldMessages = require('kafkajs/src/protocol/messageSet/decoder') as (
  decoder: Decoder,
  bytes: number,
) => Promise<KafkaMessage[]>;
/** Signed: the top bit is the sign. */
export const crc32c = require('kafkajs/src/protocol/recordBatch/crc32C') as (bytes: Buffer) => number;
