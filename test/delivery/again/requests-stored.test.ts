/** What a dispatcher knows of requests is in a file of its own: it survives restarts, faults of the file, and other accounts. */
import { rmSync } from 'node:fs';
import { SqliteBroker } from '../../../src/adapters/sqlite/broker.js';
import { openRequestChains } from '../../../src/adapters/sqlite/request-chains.js';
import { StoreFile } from '../../../src/adapters/sqlite/store-file.js';
import { toCancellation, toRequest } from '../../../src/delivery/again/request.js';
import { Requests, type RequestsParts, RequestsUnknown } from '../../../src/delivery/again/requests.js';
import { newDelivery } from '../../../src/delivery/delivery.js';
import type { FollowOptions, NewRecord, Positions } from '../../../src/ports/broker.js';
import { RequestChainsDamaged, RequestChainsUnusable } from '../../../src/ports/request-chains.js';
import { inFull } from '../../runner/thorough.js';
import { eventually } from '../../support/clocks/eventually.js';
import { EVENT, named, paymentRecord, received } from '../../support/generators/delivery-samples.js';
import { MemoryRequestChains } from '../../support/scenes/memory-request-chains.js';
import { recordingLogger } from '../../support/scenes/recording-logger.js';
import { detail } from '../../support/scenes/recoverable-view.js';
import { temporaryDirectory } from '../../support/scenes/temporary-directory.js';

const TOPIC = 'webhooks.requests';
const RECOVER = { trigger: 'recover', actor: 'ana', recovery: 'recovery-1' } as const;
/** In full more than a dispatcher once remembered for all accounts together. */
const FLOOD = inFull(100_001, 2_001);
const FLOOD_MS = { timeout: 300_000 };

let folder: ReturnType<typeof temporaryDirectory>;
let file: StoreFile;
let broker: SqliteBroker;
let stopping: AbortController;
let logger: ReturnType<typeof recordingLogger>;
let closing: (() => void)[];

beforeEach(async () => {
  folder = temporaryDirectory();
  file = new StoreFile(folder.path);
  broker = new SqliteBroker(file);
  await broker.ensureTopics([TOPIC]);
  stopping = new AbortController();
  logger = recordingLogger();
  closing = [];
});
afterEach(async () => {
  stopping.abort();
  await broker.close();
  for (const close of closing) close();
  file.close();
  folder.remove();
});

/** As a process has them: what it reads is counted. */
async function started(parts: Partial<RequestsParts> = {}) {
  let read = 0;
  const counting = {
    extent: broker.extent.bind(broker),
    read: broker.read.bind(broker),
    async *follow(topic: string, positions: Positions, options: FollowOptions) {
      for await (const page of broker.follow(topic, positions, options)) {
        read += page.items.length;
        yield page;
      }
    },
  };
  const requestChains = parts.requestChains ?? openRequestChains(folder.path, () => undefined);
  closing.push(() => requestChains.close());
  const own = new AbortController();
  stopping.signal.addEventListener('abort', () => own.abort());
  const topics = { requests: TOPIC };
  const requests = new Requests({ topics, broker: counting, logger, store: 'store-1', ...parts, requestChains });
  const starting = requests.start(own.signal);
  const stop = async () => {
    own.abort();
    await starting;
    requestChains.close();
  };
  return { requests, starting, stop, read: () => read };
}

const delivery = (offset = 7, webhookId = 1) =>
  newDelivery(EVENT, named(webhookId), received(paymentRecord(), { offset }));
const publish = (...records: NewRecord[]) => broker.publish(TOPIC, records);
const cancellation = (offset = 7) => {
  const { id, payment } = delivery(offset);
  return toCancellation([detail(1, { id, payment: payment ?? '' })], 'ana');
};
const offsets = (count: number) => Array.from({ length: count }, (_, n) => 1_000 + n);

describe('a cancellation', () => {
  const ofOther = (n: number) => toCancellation([detail(n, { accountId: 43, id: `msg_other_${n}` })], 'mallory');
  it.each([
    ['cancellations of another account', ofOther],
    ['requests of a recovery', (n: number) => toRequest(delivery(1_000 + n), RECOVER)],
  ])('holds after any number of %s, and after a restart', async (_, flood) => {
    await publish(cancellation());
    const first = await started();
    await first.starting;
    await publish(...Array.from({ length: FLOOD }, (_, n) => flood(n)));
    await eventually(() => first.read() === 1 + FLOOD, FLOOD_MS);
    expect(first.requests.laterChain(delivery())).toBe(1);
    await first.stop();
    const second = await started();
    await second.starting;
    expect(second.requests.laterChain(delivery())).toBe(1);
  });
});

describe('a restart', () => {
  it('reads only the requests that were published since', async () => {
    await publish(...offsets(2_000).map(cancellation));
    const first = await started();
    await first.starting;
    await first.stop();
    await publish(cancellation(7));
    const second = await started();
    await second.starting;
    expect([first.read(), second.read()]).toEqual([2_000, 1]);
    expect([7, 1_000, 2_999].map((offset) => second.requests.laterChain(delivery(offset)))).toEqual([2_001, 1, 2_000]);
  });

  it('reads the topic from its start if the file was deleted', async () => {
    await publish(cancellation());
    const first = await started();
    await first.starting;
    await first.stop();
    rmSync(`${folder.path}/requests.sqlite`);
    const second = await started();
    await second.starting;
    expect([second.read(), second.requests.laterChain(delivery())]).toEqual([1, 1]);
  });

  it('forgets the chains of a topic that was recreated meanwhile', async () => {
    await publish(cancellation(8), cancellation(7));
    const first = await started();
    await first.starting;
    await first.stop();
    file.file.exec('DELETE FROM records; UPDATE topics SET next_offset = 0');
    await publish(cancellation(9));
    const second = await started({ pause: async () => undefined });
    await second.starting;
    expect([7, 8, 9].map((offset) => second.requests.laterChain(delivery(offset)))).toEqual([null, null, 1]);
  });
});

describe('a file that takes no writes', () => {
  class FullDisk extends MemoryRequestChains {
    isFull = true;
    override add(...added: Parameters<MemoryRequestChains['add']>): void {
      this.trouble = this.isFull ? 'requests.sqlite is full' : null;
      if (this.isFull) throw new RequestChainsUnusable(this.trouble ?? '');
      super.add(...added);
    }
  }

  it('loses no request: they are kept in memory, and stored once it takes writes again', async () => {
    const requestChains = new FullDisk();
    const { requests, starting } = await started({ requestChains });
    await starting;
    await publish(cancellation());
    await eventually(() => requests.laterChain(delivery()) === 1);
    expect([requests.trouble, requestChains.position]).toEqual([null, null]);
    requestChains.isFull = false;
    await eventually(() => requestChains.position?.offset === 1);
    expect([requestChains.trouble, requestChains.latest(delivery().id, delivery().payment)]).toEqual([null, 1]);
    expect([logger.warnings.length, logger.infos.length]).toEqual([1, 1]);
  });

  it('makes deliveries wait once memory is full, and names itself', async () => {
    const requestChains = new FullDisk();
    const { requests, starting } = await started({ requestChains, maxUnstored: 3 });
    await publish(...offsets(4).map(cancellation));
    await eventually(() => requests.trouble !== null);
    expect(requests.trouble).toBe('requests.sqlite is full: 4 requests are not stored');
    expect(() => requests.laterChain(delivery())).toThrow(RequestsUnknown);
    requestChains.isFull = false;
    await starting;
    await eventually(() => requests.trouble === null);
    expect(requests.laterChain(delivery(1_003))).toBe(4);
  });
});

describe('a file that is found damaged in use', () => {
  class Damaged extends MemoryRequestChains {
    isDamaged = false;
    override latest(...of: Parameters<MemoryRequestChains['latest']>): number {
      if (this.isDamaged) throw new RequestChainsDamaged('requests.sqlite is damaged');
      return super.latest(...of);
    }
    override clear(): void {
      this.isDamaged = false;
      super.clear();
    }
  }

  it('makes deliveries wait until the topic was read again', async () => {
    const requestChains = new Damaged();
    await publish(cancellation());
    let resume: () => void = () => undefined;
    const pause = () =>
      new Promise<void>((resolve) => {
        resume = resolve;
      });
    const { requests, starting } = await started({ requestChains, pause });
    await starting;
    requestChains.isDamaged = true;
    expect(() => requests.laterChain(delivery())).toThrow(RequestChainsDamaged);
    expect(() => requests.laterChain(delivery())).toThrow(RequestsUnknown);
    await eventually(() => {
      resume();
      return requests.trouble === null;
    });
    expect([requests.laterChain(delivery()), requestChains.position?.offset]).toEqual([1, 1]);
  });
});
