/** How long to wait for a Kafka that accepts connections but does not answer (kafkajs's own limits are minutes), and sizes. */

export interface SessionLimits {
  /** Until a client is connected. ms */
  readonly connectMs: number;
  /** Until it has its answers. ms */
  readonly workMs: number;
}

export interface KafkaLimits extends SessionLimits {
  /**
   * For one kafkajs request, and for a whole send. Hazard: if a send may take longer than a request, kafkajs repeats it; if
   * it may take less, a merely slow Kafka publishes it twice. ms
   */
  readonly answerMs: number;
}

export const KAFKA_LIMITS: KafkaLimits = { connectMs: 10_000, workMs: 20_000, answerMs: 30_000 };

/** Of a batch with several records. The largest record of a valid event fits: 256 KiB, 64 KiB of headers, and our own. */
export const BATCH_BYTES = 512 * 1024;
/** What our own topics must take, in bytes: twice that, for what encoding adds. Kafka's default is 12 bytes more. */
export const ENOUGH_BYTES = 2 * BATCH_BYTES;
