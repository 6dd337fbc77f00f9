/** Which recoveries run in this process, and until when. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RecoveryRunner } from '../../../src/delivery/again/recovery-runner.js';
import { BrokerUnavailable, type ConsumeOptions, type Consumer } from '../../../src/ports/broker.js';
import type { SentAgain } from '../../../src/ports/send-again.js';
import type { RunningRecovery } from '../../../src/read-model/running-recoveries.js';
import { sleep } from '../../../src/time/retry.js';
import type { Recovery } from '../../../src/webhooks/state.js';
import { eventually } from '../../support/clocks/eventually.js';
import { ACCOUNT, NOW } from '../../support/generators/delivery-samples.js';
import { FakeAccounts, webhookOf } from '../../support/scenes/fake-accounts.js';
import { recordingLogger } from '../../support/scenes/recording-logger.js';
import { detail, RecoverableView } from '../../support/scenes/recoverable-view.js';

const RUNNING: Recovery = {
  ...{ id: 'r-1', webhookIds: [1], include: ['exhausted'], perSecond: 100, count: 2, actor: 'a caller' },
  ...{ since: new Date(NOW).toISOString(), until: new Date(NOW + 3_600_000).toISOString() },
  ...{ startedAt: new Date(NOW).toISOString(), state: 'running', passedBy: null },
};

let accounts: FakeAccounts;
let consumed: ConsumeOptions[];
let isOwner: boolean;
let scans: number;
let looks: number;
let sent: string[];
let sendAgain: () => Promise<SentAgain>;
let runner: RecoveryRunner;

beforeEach(() => {
  accounts = new FakeAccounts();
  accounts.put(webhookOf(1));
  accounts.recoveries = [RUNNING];
  [consumed, isOwner, scans, looks, sent] = [[], true, 0, 0, []];
  sendAgain = async () => ({ kind: 'accepted' });
  const scan = async () => {
    scans += 1;
  };
  const now = (): RunningRecovery[] => {
    looks += 1;
    return accounts.recoveries.map((recovery) => ({ accountId: ACCOUNT, recovery }));
  };
  runner = new RecoveryRunner({
    broker: {
      ensureTopics: async () => undefined,
      extent: async () => new Map(),
      consume: async (options) => consumer(options),
    },
    topics: { deliveries: 'deliveries', requests: 'requests' },
    group: 'webhooks',
    recoveries: { now, scan },
    view: new RecoverableView(detail(1), detail(2)),
    ...{ accounts, logger: recordingLogger() },
    sendAgain: async ({ id }) => {
      const result = await sendAgain();
      sent.push(id);
      return result;
    },
    handleCommand: async () => {
      accounts.recoveries = [];
      return { kind: 'accepted', events: [] };
    },
    now: () => NOW,
    monotonicNow: () => performance.now(),
    takeSend: () => 0,
    // Only what is to last does.
    pause: (ms, signal) => (ms > 1_000_000 ? sleep(ms, signal) : nextTurn()),
  });
});
afterEach(() => runner.close());

function consumer(options: ConsumeOptions): Consumer {
  consumed.push(options);
  let end: () => void = () => undefined;
  const closed = new Promise<void>((fulfil) => {
    end = fulfil;
  });
  const owns = (topic: string, partition: number) => isOwner && topic === 'requests' && partition === 0;
  return { close: async () => end(), closed, isOwner: owns } as Partial<Consumer> as Consumer;
}

const done = () => eventually(() => accounts.recoveries.length === 0);

it('runs each running recovery once, where it has the partition of the requests', async () => {
  runner.start();
  await done();
  expect(sent).toEqual([detail(1).id, detail(2).id]);
});

it('runs nothing and scans nothing while another process has the partition, and begins once it has it', async () => {
  isOwner = false;
  runner.start();
  await eventually(() => consumed.length > 0);
  expect([scans, looks, sent]).toEqual([0, 0, []]);
  isOwner = true;
  await done();
  expect([scans, sent.length]).toEqual([1, 2]);
});

it('runs a recovery anew after an outage', async () => {
  let outages = 1;
  sendAgain = async () => {
    outages -= 1;
    if (outages >= 0) throw new BrokerUnavailable('away');
    return { kind: 'accepted' };
  };
  runner.start();
  await done();
  expect(sent).toEqual([detail(1).id, detail(2).id]);
});

it('a recovery that waits ends with the process', async () => {
  sendAgain = async () => ({ kind: 'too-much-sent-again', retryAfterMs: 3_600_000 });
  runner.start();
  await eventually(() => sent.length > 0);
  await runner.close();
  expect([sent.length, accounts.recoveries]).toEqual([1, [RUNNING]]);
});
