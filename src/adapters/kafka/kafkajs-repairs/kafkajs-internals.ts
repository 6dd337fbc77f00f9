/**
 * The parts of kafkajs used beyond its API: 2.2.4, pinned, its last release (docs/decisions/0005). It has no hook between a
 * fetch and its batches, where one bad batch fails all partitions of a fetch; and it doesn't export its default socket.
 */
import { createRequire } from 'node:module';
import type { ISocketFactory } from 'kafkajs';

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
export interface Protocol<Parameters> {
  protocol: (of: { version: number }) => ((parameters: Parameters) => Call) | undefined;
}

interface SentRequest {
  /** ms since 1970 */
  readonly sentAt: number;
  /** ms */
  readonly requestTimeout: number;
  timeoutRequest(): void;
}

export interface RequestQueueState {
  readonly pending: readonly unknown[];
  readonly inflight: ReadonlyMap<number, SentRequest>;
  readonly enforceRequestTimeout: boolean;
  /** ms */
  readonly requestTimeout: number;
  requestTimeoutIntervalId: NodeJS.Timeout | undefined;
  /** ms since 1970; a value in the past means no throttling. */
  throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
  scheduleRequestTimeoutCheck(): void;
  isConnected(): boolean;
  /** Ends its timers. */
  destroy(): void;
}

export interface ConnectionState {
  connect(): Promise<true>;
  disconnect(): Promise<true>;
}

export interface FetchParameters {
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly { readonly partition: number; readonly fetchOffset: string }[];
  }[];
}

interface ConsumerGroupMembership {
  /** Rejects with the last error. */
  joinAndSync(): Promise<void>;
}

export const Decoder = require('kafkajs/src/protocol/decoder') as new (bytes: Buffer) => Decoder;
export const fetchProtocol = require('kafkajs/src/protocol/requests/fetch') as Protocol<FetchParameters>;
export const offsetCommitProtocol = require('kafkajs/src/protocol/requests/offsetCommit') as Protocol<object>;
export const RequestQueue = require('kafkajs/src/network/requestQueue') as { readonly prototype: RequestQueueState };
export const Connection = require('kafkajs/src/network/connection') as { readonly prototype: ConnectionState };
export const ConsumerGroup = require('kafkajs/src/consumer/consumerGroup') as {
  readonly prototype: ConsumerGroupMembership;
};
/** Signed: the top bit is the sign. */
export const crc32c = require('kafkajs/src/protocol/recordBatch/crc32C') as (bytes: Buffer) => number;
/** The default `socketFactory`: TCP or TLS, with keep-alive. */
export const openSocket = (require('kafkajs/src/network/socketFactory') as () => ISocketFactory)();
