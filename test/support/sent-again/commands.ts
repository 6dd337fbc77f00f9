/** What operators do: they replay dead letters, and audit. */
import { auditCompleteness } from '../../../src/audit/completeness.js';
import { confirmedRecipientOf } from '../../../src/delivery/recipient.js';
import { replayDeadLetters } from '../../../src/delivery/retry/replay.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import { scratchInMemory } from '../scratch-in-memory.js';
import { Process } from './kernel.js';
import { GROUPS, TOPICS } from './settings.js';
import type { World } from './world.js';

export class Commands {
  readonly #world: World;
  readonly #replayer: Process;
  readonly #auditor: Process;
  /** The letters that were replayed. */
  readonly #replayed = new Set<number>();
  isReplaying = false;

  constructor(world: World) {
    this.#world = world;
    this.#replayer = new Process(world.kernel, 'replay');
    this.#auditor = new Process(world.kernel, 'audit');
    this.#auditor.begin();
  }

  /** @returns how it can be interrupted */
  replay(): () => void {
    const { kernel } = this.#world;
    const command = this.#replayer;
    kernel.say('replay');
    command.begin();
    this.isReplaying = true;
    void this.#replay().finally(() => {
      this.isReplaying = false;
    });
    const { incarnation } = command;
    return () => {
      if (!this.isReplaying || command.incarnation !== incarnation) return;
      kernel.say('the replay is killed');
      command.kill();
      kernel.after(200, () => {
        this.isReplaying = false;
      });
    };
  }

  async #replay(): Promise<void> {
    const { account, kernel } = this.#world;
    const command = this.#replayer;
    const webhook = (_: number, id: number) => account.webhook(id);
    const recipientNow: Parameters<typeof replayDeadLetters>[0]['recipientNow'] = async (delivery) => {
      await command.pause(5);
      const accounts = { webhook, unreadable: () => null, noticeTarget: () => undefined };
      return confirmedRecipientOf(delivery, accounts, async (_, id) => !account.webhook(id));
    };
    const broker = this.#world.brokerFor(command);
    const parts = { broker, topics: TOPICS, recipientNow, isReadable: async () => true, now: () => kernel.now };
    const isOnce = this.#world.planted === 'a-letter-replayed-once-only';
    const wanted = ({ offset }: { offset: number }) => !isOnce || !this.#replayed.has(offset);
    for await (const { kind, letter } of replayDeadLetters(
      { ...parts, actor: 'operator', scratch: scratchInMemory() },
      wanted,
    )) {
      if (kind === 'replayed') this.#replayed.add(letter.offset);
    }
    kernel.say('the replay ends');
  }

  async audit(when: string): Promise<void> {
    const broker = this.#world.brokerFor(this.#auditor);
    const records = (topic: string, options: object = {}) => topicRecords(broker, topic, options);
    const store = { read: this.#world.account.read(this.#auditor) };
    const parts = {
      broker,
      records,
      store,
      topics: TOPICS,
      groups: GROUPS,
      progress: () => undefined,
      scratch: scratchInMemory,
    };
    const report = await auditCompleteness(parts, { from: 0, to: Number.MAX_SAFE_INTEGER, account: null });
    this.#world.known.audited(when, report);
  }
}
