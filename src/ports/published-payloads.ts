/** Payments as they were published, read from their topics by their places: they are not stored twice. */
export interface PublishedPayloads {
  /**
   * Null: the topic has lost the record, or has another one there since it was recreated.
   * @param payment the place of the record (record-place.ts)
   * @throws BrokerUnavailable
   */
  payload(payment: string): Promise<Buffer | null>;
  /** ms since the epoch; null: no time limit, or none that is known. */
  keptUntil(payment: string): Promise<number | null>;
}
