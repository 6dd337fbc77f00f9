/** How long to wait for a Kafka that accepts connections but does not answer. kafkajs's own limits are minutes. */

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
