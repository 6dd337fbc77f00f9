/** A consumer of the embedded broker; its topics are its lanes. It is alone in its group: one `serve` has DATA_DIR. */
import type { ConsumeOptions, Consumer, ConsumerState, PartitionState } from '../../ports/broker.js';
import { OffsetKeeper } from '../common/offset-keeper.js';
import { type LaneItem, laneItem, type Progress, RecordLane } from '../common/record-lane.js';
import { RecordPump } from '../common/record-pump.js';
import type { RecordLog } from './record-log.js';
import type { StoreFile } from './store-file.js';

const PAGE = 100;
/** Where keys take turns. Fewer than a commit remembers as done ahead of the oldest that waits. */
const READ_AHEAD = { records: 30_000, bytes: 24 * 1024 * 1024 };
/** In one turn of the event loop: 4 ms. */
const PAGES_A_TURN = 5;

export class TopicLane extends RecordLane {
  readonly topic: string;
  readonly #log: RecordLog;
  readonly #options: Pick<ConsumeOptions, 'accept' | 'turnsByKey'>;
  /** False while the last page was the topic's end and nothing was published since. */
  #mayHaveMore = true;

  constructor(topic: string, log: RecordLog, options: Pick<ConsumeOptions, 'group' | 'accept' | 'turnsByKey'>) {
    const { offset, behind } = log.progress(options.group, topic);
    super(offset, behind);
    this.topic = topic;
    this.#log = log;
    this.#options = options;
  }

  published(): void {
    this.#mayHaveMore = true;
  }

  /** @throws SQLite's error */
  override head(onlyUsual = false): LaneItem | undefined {
    while (!super.head() && this.#mayHaveMore) this.#readOn();
    return super.head(onlyUsual);
  }

  /** @throws SQLite's error */
  override readAhead(): void {
    if (!this.#options.turnsByKey) return;
    const { records, bytes } = READ_AHEAD;
    const mayRead = () => this.#mayHaveMore && this.queued.records < records && this.queued.bytes < bytes;
    for (let pages = 0; pages < PAGES_A_TURN && mayRead(); pages += 1) this.#readOn();
  }

  /** @throws SQLite's error */
  get state(): PartitionState {
    const { topic } = this;
    this.head();
    const behind = Math.max(0, this.#log.end(topic) - this.doneTo);
    return { topic, partition: 0, behind, ...this.headState };
  }

  #readOn(): void {
    // A million records behind one that waits took six seconds to read.
    while (this.passKnown(this.readTo)) this.readTo += 1;
    const { page, next, atEnd } = this.#log.page(this.topic, this.readTo, PAGE);
    this.#mayHaveMore = !atEnd;
    this.add(
      page.map((one) => laneItem(one, this.#options)),
      next,
    );
  }
}

/** The longest wait if the disk takes no writes while a consumer closes. */
const KEEP_WITHIN_MS = 1_000;

export class SqliteConsumer implements Consumer {
  readonly closed: Promise<void>;
  readonly #options: ConsumeOptions;
  readonly #log: RecordLog;
  readonly #pump: RecordPump;
  readonly #offsets: OffsetKeeper<TopicLane>;
  readonly #unsubscribe: () => void;
  readonly #lanes: readonly TopicLane[];
  #stopped = false;
  #closing: Promise<void> | null = null;
  #resolveClosed: () => void = () => undefined;

  /** @throws an error of SQLite */
  constructor(store: StoreFile, log: RecordLog, options: ConsumeOptions) {
    this.#options = options;
    this.#log = log;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    this.#pump = new RecordPump({ ...options, onDone: () => this.#offsets.keepSoon() });
    this.#offsets = new OffsetKeeper(
      () => this.#lanes,
      (progress) => this.#remember(progress),
    );
    this.#lanes = options.topics.map((topic) => new TopicLane(topic, log, options));
    this.#pump.setLanes(this.#lanes);
    this.#unsubscribe = store.changes.listen((touched) => this.#changed(touched));
  }

  stop(): void {
    this.#stopped = true;
    this.#unsubscribe();
    this.#pump.stop();
  }

  isOwner(topic: string, partition: number): boolean {
    return !this.#stopped && partition === 0 && this.#lanes.some((lane) => lane.topic === topic);
  }

  state(): ConsumerState {
    return { connected: true, inHand: this.#pump.inHand, partitions: this.#partitions() };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.stop();
    await this.#pump.drained();
    await this.#offsets.finish(KEEP_WITHIN_MS);
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

  #changed(touched: ReadonlySet<string> | null): void {
    const changed = this.#lanes.filter(({ topic }) => !touched || touched.has(topic));
    for (const lane of changed) lane.published();
    if (changed.length > 0) this.#pump.pump();
  }

  async #remember(progress: ReadonlyMap<TopicLane, Progress>): Promise<void> {
    const byTopic = new Map([...progress].map(([{ topic }, reached]) => [topic, reached]));
    await this.#log.rememberProgress(this.#options.group, byTopic);
  }
}
