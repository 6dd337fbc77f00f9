/**
 * A consumer of the embedded broker; its topics are its lanes.
 *
 *   waiting -> working (it has the group) -> stopping -> closed
 *    ^-----------/ (another process has the group: this one stalled)
 */
import type { ConsumeOptions, Consumer, ConsumerState } from '../../ports/broker.js';
import { OffsetKeeper } from '../common/offset-keeper.js';
import { RecordPump } from '../common/record-pump.js';
import { GroupLock } from './group-lock.js';
import { TopicLane } from './lane.js';
import type { RecordLog } from './record-log.js';
import type { StoreFile } from './store-file.js';

type WithPortErrors = (work: () => Promise<void>) => Promise<void>;

/** The longest wait if the disk takes no writes while a consumer closes. */
const KEEP_WITHIN_MS = 1_000;

export class SqliteConsumer implements Consumer {
  readonly closed: Promise<void>;
  readonly #options: ConsumeOptions;
  readonly #log: RecordLog;
  readonly #lock: GroupLock;
  readonly #pump: RecordPump;
  readonly #offsets: OffsetKeeper<TopicLane>;
  readonly #unsubscribe: () => void;
  readonly #withPortErrors: WithPortErrors;
  readonly #topics: Set<string>;
  #lanes: readonly TopicLane[] = [];
  #closing: Promise<void> | null = null;
  #resolveClosed: () => void = () => undefined;

  /** @param withPortErrors turns errors of SQLite into those of the port */
  constructor(store: StoreFile, log: RecordLog, options: ConsumeOptions, withPortErrors: WithPortErrors) {
    this.#withPortErrors = withPortErrors;
    this.#options = options;
    this.#topics = new Set(options.topics);
    this.#log = log;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    this.#lock = new GroupLock(store, {
      group: options.group,
      taken: () => this.#begin(),
      lost: () => this.#setLanes([]),
      regained: () => this.#pump.pumpNextTurn(),
    });
    this.#pump = new RecordPump({ ...options, onDone: () => this.#offsets.keepSoon(), lease: this.#lock });
    this.#offsets = new OffsetKeeper(
      () => this.#lanes,
      (offsets, withBehind) => this.#remember(offsets, withBehind),
    );
    this.#unsubscribe = store.onChange((touched) => this.#changed(touched));
  }

  /** @throws an error of fs or SQLite */
  async start(): Promise<void> {
    await this.#lock.acquire();
  }

  subscribe(topics: readonly string[]): Promise<void> {
    return this.#withPortErrors(async () => {
      await this.#log.begin(this.#options.group, topics);
      const added = topics.filter((topic) => !this.#topics.has(topic));
      // Without lanes another process has the group: #begin makes all of them.
      if (this.#lanes.length > 0) this.#setLanes([...this.#lanes, ...this.#lanesOf(added)]);
      for (const topic of added) this.#topics.add(topic);
    });
  }

  stop(): void {
    this.#unsubscribe();
    this.#pump.stop();
    this.#lock.stop();
  }

  state(): ConsumerState {
    return { connected: this.#lock.works, ...this.#pump.inHand, partitions: this.#partitions() };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.stop();
    await this.#pump.drained();
    await this.#offsets.finish(KEEP_WITHIN_MS);
    this.#lock.release();
    this.#resolveClosed();
  }

  #partitions(): ConsumerState['partitions'] {
    try {
      return this.#lanes.map((lane) => lane.state);
    } catch {
      // The file is unavailable now, or closed: other users of the file report that.
      return [];
    }
  }

  #begin(): void {
    this.#setLanes(this.#lanesOf(this.#topics));
  }

  #lanesOf(topics: Iterable<string>): TopicLane[] {
    const { group, notBefore = () => 0 } = this.#options;
    return [...topics].map((topic) => new TopicLane(topic, this.#log, group, notBefore));
  }

  #setLanes(lanes: readonly TopicLane[]): void {
    this.#lanes = lanes;
    this.#pump.setLanes(lanes);
  }

  #changed(touched: ReadonlySet<string> | null): void {
    const changed = this.#lanes.filter(({ topic }) => !touched || touched.has(topic));
    for (const lane of changed) lane.published();
    if (changed.length > 0) this.#pump.pump();
  }

  async #remember(offsets: ReadonlyMap<TopicLane, number>, withBehind: boolean): Promise<void> {
    const progress = new Map(
      [...offsets].map(([{ topic, behind }, offset]) => [topic, withBehind ? { offset, behind } : { offset }]),
    );
    if (await this.#log.rememberProgress(this.#options.group, progress, () => this.#lock.isCurrent())) return;
    this.#lock.doubt();
    throw new Error('another process may have taken over the group');
  }
}
