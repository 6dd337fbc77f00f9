/** How long a Kafka is waited for that takes connections and does not answer. kafkajs by itself waits for minutes. */

export interface SessionLimits {
  /** Until a client is connected. ms */
  readonly connectMs: number;
  /** Until it has its answers. ms */
  readonly workMs: number;
}

export interface KafkaLimits extends SessionLimits {
  /**
   * Of one request of kafkajs, and of a whole send. Hazard: a send that may take longer than a request is repeated by
   * kafkajs; one that may not take as long as a request is published twice where Kafka is only slow. ms
   */
  readonly answerMs: number;
}

export const KAFKA_LIMITS: KafkaLimits = { connectMs: 10_000, workMs: 20_000, answerMs: 30_000 };
