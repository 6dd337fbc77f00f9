/**
 * Commits offsets, each with the records that are done beyond it. Kafka stores offset.metadata.max.bytes with an offset, by
 * default 4,096, and rejects the whole offset if its metadata is larger; no request returns that limit.
 */
import type { TopicPartitionOffsetAndMetadata } from 'kafkajs';
import type { Logger } from '../../observability/logger.js';
import { encodedBehind } from '../common/done-behind.js';
import type { Progress } from '../common/record-lane.js';
import { isMetadataTooLarge } from './kafka-errors.js';
import type { TopicPartition } from './partition-lane.js';

/** ASCII characters, so bytes too. */
const DEFAULT_MAX_METADATA = 4_096;

/** @throws if Kafka did not accept the commit */
type Commit = (offsets: readonly TopicPartitionOffsetAndMetadata[]) => Promise<void>;

export class ProgressCommitter {
  readonly #commit: Commit;
  readonly #logger: Logger;
  readonly #group: string;
  #maxMetadata = DEFAULT_MAX_METADATA;
  #hasLogged = false;

  constructor(commit: Commit, logger: Logger, group: string) {
    this.#commit = commit;
    this.#logger = logger;
    this.#group = group;
  }

  /** Halves the metadata until Kafka accepts it: an offset matters more than what is done beyond it. @throws as Commit */
  async commit(progress: readonly (readonly [TopicPartition, Progress])[]): Promise<void> {
    for (;;) {
      const offsets = progress.map(([partition, reached]) => this.#toOffset(partition, reached));
      const longest = Math.max(0, ...offsets.map(({ metadata }) => metadata?.length ?? 0));
      try {
        await this.#commit(offsets);
        return;
      } catch (error) {
        if (longest === 0 || !isMetadataTooLarge(error)) throw error;
        this.#maxMetadata = Math.floor(longest / 2);
        this.#logOnce(longest);
      }
    }
  }

  #toOffset({ topic, partition }: TopicPartition, { offset, behind }: Progress): TopicPartitionOffsetAndMetadata {
    const metadata = behind ? encodedBehind(behind, offset, this.#maxMetadata) : '';
    return { topic, partition, offset: String(offset), metadata };
  }

  #logOnce(rejectedBytes: number): void {
    if (this.#hasLogged) return;
    this.#hasLogged = true;
    this.#logger.warn(
      { group: this.#group, rejectedBytes },
      'Kafka stores less than 4,096 bytes of metadata with an offset (offset.metadata.max.bytes): fewer of the records that are done beyond a committed offset are committed, so more deliveries are repeated after a crash or a rebalance',
    );
  }
}
