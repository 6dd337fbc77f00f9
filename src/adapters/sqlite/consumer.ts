/**
 * A consumer of the embedded broker; its topics are its lanes. It is the only one of its group: one `serve` has a DATA_DIR.
 */
import type { ConsumeOptions, Consumer, ConsumerState, PartitionState, ReceivedRecord } from '../../ports/broker.js';
import { DonePrefix } from '../common/done-prefix.js';
import { type Kept, OffsetKeeper } from '../common/offset-keeper.js';
import { type DoneBehind, type LaneItem, lastOf } from '../common/record-lane.js';
import { dueRecord, headState, type Lane, RecordPump } from '../common/record-pump.js';
import { UnreadablePace } from '../common/unreadable-pace.js';
import type { RecordLog } from './record-log.js';
import type { StoreFile } from './store-file.js';

const PAGE = 100;

/** One topic: a prefetched page, the offset read up to, and what is done. */
export class TopicLane implements Lane, Kept {
  readonly topic: string;
  readonly #log: RecordLog;
  readonly #dueOf: (record: ReceivedRecord) => number;
  readonly #done: DonePrefix;
  readonly #pace = new UnreadablePace();
  #page: LaneItem[] = [];
  #nextRead: number;
  #remembered: number;
  /** False while the last page was the topic's end and nothing was published since. */
  #mayHaveMore = true;

  constructor(topic: string, log: RecordLog, group: string, dueOf: (record: ReceivedRecord) => number) {
    this.topic = topic;
    this.#log = log;
    this.#dueOf = dueOf;
    const { offset, behind } = log.progress(group, topic);
    this.#nextRead = this.#remembered = offset;
    this.#done = new DonePrefix(offset, behind);
  }

  published(): void {
    this.#mayHaveMore = true;
  }

  /** The next record to hand out, due or not. @throws SQLite's error */
  head(): LaneItem | undefined {
    while (this.#page.length === 0 && this.#mayHaveMore) this.#readOn();
    return this.#page[0];
  }

  /** The due time of the head, as far as known without reading. */
  get headDue(): number {
    return this.#page[0]?.due ?? Number.POSITIVE_INFINITY;
  }

  get isFull(): boolean {
    return this.#done.isFull;
  }

  takeHead(): void {
    const head = this.#page.shift();
    if (!head) return;
    this.#pace.passed(head);
    this.#done.handOut(lastOf(head));
    this.#passKnown();
  }

  done(item: LaneItem): void {
    this.#done.done(lastOf(item));
  }

  isPartDone({ offset }: ReceivedRecord, part: number): boolean {
    return this.#done.isPartDone(offset, part);
  }

  partDone({ offset }: ReceivedRecord, part: number): void {
    this.#done.partDone(offset, part);
  }

  /** The offset to commit for the group; null if it is committed already. */
  get unremembered(): number | null {
    return this.#done.next > this.#remembered ? this.#done.next : null;
  }

  remembered(offset: number): void {
    this.#remembered = offset;
  }

  get behind(): DoneBehind {
    return this.#done.behind;
  }

  get toHandOver(): number | null {
    return this.unremembered ?? (this.behindSize > 0 ? this.#remembered : null);
  }

  get behindSize(): number {
    return this.#done.behindSize;
  }

  get handedOutEnd(): number {
    return this.#done.handedOutEnd;
  }

  /** @throws SQLite's error */
  get state(): PartitionState {
    const { topic } = this;
    const head = this.head();
    const behind = Math.max(0, this.#log.end(topic) - this.#done.next);
    return { topic, partition: 0, behind, head: headState(head), unreadable: this.#pace.blockedBy(head) };
  }

  #readOn(): void {
    // A million records behind one that waits took six seconds to read.
    while (this.#done.passKnown(this.#nextRead)) this.#nextRead += 1;
    const records = this.#log.page(this.topic, this.#nextRead, PAGE);
    this.#mayHaveMore = !records.atEnd;
    this.#page = records.page.map((one) => ('digest' in one ? this.#pace.item(one) : dueRecord(one, this.#dueOf(one))));
    this.#nextRead = records.next;
    this.#passKnown();
  }

  #passKnown(): void {
    for (let first = this.#page[0]; first && this.#done.passKnown(lastOf(first)); first = this.#page[0]) {
      this.#page.shift();
    }
  }
}

type WithPortErrors = (work: () => Promise<void>) => Promise<void>;

/** The longest wait if the disk takes no writes while a consumer closes. */
const KEEP_WITHIN_MS = 1_000;

export class SqliteConsumer implements Consumer {
  readonly closed: Promise<void>;
  readonly #options: ConsumeOptions;
  readonly #log: RecordLog;
  readonly #pump: RecordPump;
  readonly #offsets: OffsetKeeper<TopicLane>;
  readonly #unsubscribe: () => void;
  readonly #withPortErrors: WithPortErrors;
  #lanes: readonly TopicLane[] = [];
  #closing: Promise<void> | null = null;
  #resolveClosed: () => void = () => undefined;

  /** @param withPortErrors turns errors of SQLite into those of the port @throws an error of SQLite */
  constructor(store: StoreFile, log: RecordLog, options: ConsumeOptions, withPortErrors: WithPortErrors) {
    this.#withPortErrors = withPortErrors;
    this.#options = options;
    this.#log = log;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    this.#pump = new RecordPump({ ...options, onDone: () => this.#offsets.keepSoon() });
    this.#offsets = new OffsetKeeper(
      () => this.#lanes,
      (offsets, withBehind) => this.#remember(offsets, withBehind),
    );
    this.#setLanes(this.#lanesOf(options.topics));
    this.#unsubscribe = store.changes.listen((touched) => this.#changed(touched));
  }

  subscribe(topics: readonly string[]): Promise<void> {
    return this.#withPortErrors(async () => {
      await this.#log.begin(this.#options.group, topics);
      const added = topics.filter((topic) => this.#lanes.every((lane) => lane.topic !== topic));
      this.#setLanes([...this.#lanes, ...this.#lanesOf(added)]);
    });
  }

  stop(): void {
    this.#unsubscribe();
    this.#pump.stop();
  }

  state(): ConsumerState {
    return { connected: true, ...this.#pump.inHand, partitions: this.#partitions() };
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

  #lanesOf(topics: readonly string[]): TopicLane[] {
    const { group, notBefore = () => 0 } = this.#options;
    return topics.map((topic) => new TopicLane(topic, this.#log, group, notBefore));
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
    await this.#log.rememberProgress(this.#options.group, progress);
  }
}
