/** Payments as they were published, read from their topics by their places: they are not stored twice. */
import type { ReceivedRecord } from './broker.js';
import type { FirstKept } from './deliveries-view.js';

export interface PublishedPayloads {
  /**
   * Null: the topic has lost the record, or has another one there since it was recreated.
   * @param payment the place of the record (record-place.ts)
   * @throws BrokerUnavailable
   */
  record(payment: string): Promise<ReceivedRecord | null>;
  /** ms since the epoch; null: no time limit, or none that is known. */
  keptUntil(payment: string): Promise<number | null>;
  /** Of the payment topics. @throws BrokerUnavailable */
  firstKept(): Promise<FirstKept>;
}
