/** The run of a recovery, by fakes that fail wherever the test wants. */
import { RecoveryRun, type RecoveryRunParts } from '../../../src/delivery/again/recovery-run.js';
import { webhookMessageId } from '../../../src/payments/parsed-payment.js';
import { RECOVERABLE, type ViewTopic } from '../../../src/ports/deliveries-view.js';
import type { Sendable, SentAgain } from '../../../src/ports/send-again.js';
import type { Command } from '../../../src/webhooks/decide.js';
import type { Recovery } from '../../../src/webhooks/state.js';
import { ACCOUNT, NOW } from '../../support/generators/delivery-samples.js';
import { FakeAccounts, webhookOf } from '../../support/scenes/fake-accounts.js';
import { recordingLogger } from '../../support/scenes/recording-logger.js';
import { detail, missed, RecoverableView } from '../../support/scenes/recoverable-view.js';

const COUNT = 50;
const RUNNING: Recovery = {
  ...{ id: 'r-1', webhookIds: [1, 2], include: RECOVERABLE, perSecond: 20, count: COUNT, actor: 'a caller' },
  ...{ since: new Date(NOW).toISOString(), until: new Date(NOW + 3_600_000).toISOString() },
  ...{ startedAt: new Date(NOW + 3_600_000).toISOString(), state: 'running', passedBy: null },
};
const SENT: SentAgain = { kind: 'accepted' };

let accounts: FakeAccounts;
let view: RecoverableView;
let commands: Command[];
let sent: { readonly id: string; readonly at: number }[];
let clock: number;
let parts: RecoveryRunParts;

beforeEach(() => {
  accounts = new FakeAccounts();
  accounts.put(webhookOf(1), webhookOf(2));
  accounts.recoveries = [RUNNING];
  view = new RecoverableView(...Array.from({ length: COUNT }, (_, n) => detail(n, { webhookId: 1 + (n % 2) })));
  commands = [];
  sent = [];
  clock = 0;
  parts = {
    broker: { extent: async () => new Map([[0, { first: 0, next: 7 }]]) },
    topics: { deliveries: 'deliveries', requests: 'requests' },
    ...{ view, accounts, sendAgain: requested, logger: recordingLogger() },
    handleCommand: async (_, command) => {
      commands.push(command);
      if (command.type === 'FinishRecovery') accounts.recoveries = [{ ...RUNNING, state: 'done' }];
      return { kind: 'accepted', events: [] };
    },
    now: () => NOW,
    monotonicNow: () => clock,
    takeSend: () => 0,
    isOwner: () => true,
    pause: async (ms) => {
      clock += Math.max(0, ms);
    },
  };
});

async function requested({ id }: { id: string }): Promise<SentAgain> {
  sent.push({ id, at: clock });
  view.requested.set('r-1', (view.requested.get('r-1') ?? new Set()).add(id));
  return SENT;
}

const run = (changed: Partial<RecoveryRunParts> = {}, recovery = RUNNING) =>
  new RecoveryRun({ ...parts, ...changed }, { accountId: ACCOUNT, recovery }).done();
const ids = () => sent.map(({ id }) => id);
const ALL = Array.from({ length: COUNT }, (_, n) => detail(n).id);
const ended = (passedBy = 0) => [
  { type: 'FinishRecovery', recoveryId: 'r-1', passedBy, at: new Date(NOW).toISOString() },
];

describe('a recovery', () => {
  it('requests each delivery of its webhooks once, oldest first, in the name of who asked, and is done', async () => {
    const asked = new Set<string>();
    const sendAgain: RecoveryRunParts['sendAgain'] = async (known, by) => {
      asked.add(JSON.stringify(by));
      return requested(known);
    };
    await run({ sendAgain });
    expect(ids()).toEqual(ALL);
    expect(commands).toEqual(ended());
    expect([...asked]).toEqual([JSON.stringify({ trigger: 'recover', actor: 'a caller', recovery: 'r-1' })]);
  });

  it('sends no more than its rate, by the monotonic clock', async () => {
    await run();
    expect(sent.map(({ at }) => at)).toEqual(ALL.map((_, n) => n * 50));
  });

  it('waits for the sends of its account', async () => {
    await run({ takeSend: () => 80 });
    expect(sent.map(({ at }) => at)).toEqual(ALL.map((_, n) => n * 80));
  });

  it('leaves out what was delivered or cancelled while it waited for its turn', async () => {
    const pause = async (ms: number) => {
      clock += Math.max(0, ms);
      if (sent.length === 10) view.details = view.details.filter(({ eventId }) => eventId !== 'pay-10');
    };
    await run({ pause });
    expect(ids()).toEqual(ALL.filter((id) => id !== detail(10).id));
  });

  it('waits where the account had too much sent again, and asks the view anew', async () => {
    let refusals = 3;
    const sendAgain: RecoveryRunParts['sendAgain'] = async (known) => {
      if (known.id !== detail(3).id || refusals === 0) return requested(known);
      refusals -= 1;
      if (refusals === 0) view.details = view.details.filter(({ eventId }) => eventId !== 'pay-3');
      return { kind: 'too-much-sent-again', retryAfterMs: 7_000 };
    };
    await run({ sendAgain });
    expect(ids()).toEqual(ALL.filter((id) => id !== detail(3).id));
    expect(sent[3]?.at).toBe(150 + 3 * 7_000);
    expect(commands).toEqual(ended());
  });
});

describe('what was missed', () => {
  const MISSED = [missed(60), missed(61, 2), missed(62)];
  const MISSED_IDS = MISSED.map((one) => webhookMessageId(ACCOUNT, one, one.webhookId));
  const asked: Sendable[] = [];
  const sendAgain: RecoveryRunParts['sendAgain'] = async (known) => {
    asked.push(known);
    return requested(known);
  };
  beforeEach(() => {
    asked.length = 0;
    view.missed = MISSED;
  });

  it('is requested behind the deliveries, as if it waited for its first attempt, at the same rate', async () => {
    await run({ sendAgain });
    expect(ids()).toEqual([...ALL, ...MISSED_IDS]);
    expect(sent.map(({ at }) => at)).toEqual(sent.map((_, n) => n * 50));
    const { payment } = detail(61);
    const about = { accountId: ACCOUNT, id: MISSED_IDS[1], payment, webhookId: 2, webhookEvent: webhookOf(2).addedBy };
    expect(asked[COUNT + 1]).toEqual({ ...about, outcome: 'retrying', step: 0, requests: 0 });
    expect(commands).toEqual(ended());
  });

  it('and can not be sent is passed by and counted: its record is gone', async () => {
    const goneAt = async (known: Sendable): Promise<SentAgain> =>
      known.id === MISSED_IDS[1] ? { kind: 'payload-gone' } : requested(known);
    await run({ sendAgain: goneAt });
    expect(ids()).toEqual([...ALL, MISSED_IDS[0], MISSED_IDS[2]]);
    expect(commands).toEqual(ended(1));
  });
});

describe('what can not be sent', () => {
  it.each<SentAgain>([
    { kind: 'payload-gone' },
    { kind: 'webhook-inactive' },
    { kind: 'sent-too-often', params: { limit: 100 } },
  ])('is passed by without pacing, and counted: $kind', async (refused) => {
    const sendAgain: RecoveryRunParts['sendAgain'] = async (known) =>
      known.webhookId === 2 ? refused : requested(known);
    await run({ sendAgain });
    expect(sent.map(({ at }) => at)).toEqual(sent.map((_, n) => n * 50));
    expect(commands).toEqual(ended(COUNT / 2));
  });
});

describe('nothing is sent', () => {
  const onceSent = (count: number, then: () => void): RecoveryRunParts['sendAgain'] => {
    return async (known) => {
      if (sent.length === count - 1) then();
      return requested(known);
    };
  };

  it('once its account stops it', async () => {
    const stop = () => {
      accounts.recoveries = [{ ...RUNNING, state: 'stopped' }];
    };
    await run({ sendAgain: onceSent(7, stop) });
    expect([sent.length, commands]).toEqual([7, []]);
  });

  it('once another process runs the recoveries: it is asked before each request, after all waits', async () => {
    let isOwner = true;
    const lose = () => {
      isOwner = false;
    };
    await run({ sendAgain: onceSent(7, lose), isOwner: () => isOwner });
    expect([sent.length, commands]).toEqual([7, []]);
  });
});

describe('the view', () => {
  const TOPICS: readonly ViewTopic[] = ['deliveries', 'requests'];

  it.each(TOPICS)('is waited for until it has all of %s: what a killed process requested is left out', async (late) => {
    let looks = 0;
    view.reached = (topic) => {
      if (topic !== late) return 7;
      looks += 1;
      if (looks === 3) view.requested.set('r-1', new Set(ALL.slice(0, 20)));
      return looks < 3 ? 6 : 7;
    };
    await run();
    expect(ids()).toEqual(ALL.slice(20));
  });

  it.each(['', 'view-2'])(
    'that is discarded is no end: the run breaks off, and the next one sends the rest: %j',
    async (id) => {
      const sendAgain: RecoveryRunParts['sendAgain'] = async (known) => {
        if (sent.length === 19) view.id = id;
        return requested(known);
      };
      await expect(run({ sendAgain })).rejects.toThrow('is being rebuilt');
      expect(commands).toEqual([]);
      view.id = 'view-2';
      await run();
      expect([ids(), commands]).toEqual([ALL, ended()]);
    },
  );
});

describe('over its budget', () => {
  it('it waits long enough for another process to run it: what that one requested is not sent again', async () => {
    let next = 7;
    const sendAgain: RecoveryRunParts['sendAgain'] = async (known) => {
      if (sent.length < 20 || next > 7) return requested(known);
      next = 17;
      return { kind: 'too-much-sent-again', retryAfterMs: 60_000 };
    };
    view.reached = () => (view.requested.get('r-1')?.has(ALL[29] ?? '') ? 17 : 7);
    const pause = async (ms: number) => {
      clock += Math.max(0, ms);
      if (ms === 200) view.requested.set('r-1', new Set(ALL.slice(0, 30)));
    };
    const extent = async () => new Map([[0, { first: 0, next }]]);
    await run({ sendAgain, pause, broker: { extent } });
    expect(ids()).toEqual([...ALL.slice(0, 20), ...ALL.slice(30)]);
  });
});

describe('killed at any point', () => {
  const killed = new Error('killed');
  const POINTS = ['before the request', 'after the request', 'before the request is in the view'] as const;

  it.each(POINTS)(
    '%s, another run goes on: nothing is lost, and only what was in flight is repeated',
    async (point) => {
      for (const at of [0, 1, 19, 20, 21, COUNT - 1]) {
        sent.length = 0;
        view.requested.clear();
        accounts.recoveries = [RUNNING];
        let attempted = 0;
        const sendAgain = async (known: Sendable): Promise<SentAgain> => {
          attempted += 1;
          if (attempted !== at + 1) return requested(known);
          if (point === 'before the request') throw killed;
          await requested(known);
          if (point === 'before the request is in the view') view.requested.get('r-1')?.delete(known.id);
          throw killed;
        };
        await expect(run({ sendAgain })).rejects.toThrow(killed);
        await run();
        const repeated = point === 'before the request is in the view' ? ALL.slice(at, at + 1) : [];
        expect(ids().toSorted()).toEqual([...ALL, ...repeated].toSorted());
      }
    },
  );

  it('before its end is in the history: the next run ends it, and sends nothing', async () => {
    const handleCommand = () => Promise.reject(killed);
    await expect(run({ handleCommand })).rejects.toThrow(killed);
    await run();
    expect([ids(), commands]).toEqual([ALL, ended()]);
  });
});
