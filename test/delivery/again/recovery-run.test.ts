/** The run of a recovery, by fakes that fail wherever the test wants. */
import { type RecoveryRunParts, runRecovery } from '../../../src/delivery/again/recovery-runner.js';
import { RECOVERABLE } from '../../../src/ports/deliveries-view.js';
import type { RecoveryOrder, SentAgain } from '../../../src/ports/send-again.js';
import type { Command } from '../../../src/webhooks/decide.js';
import type { Recovery } from '../../../src/webhooks/state.js';
import { ACCOUNT, NOW } from '../../support/delivery-samples.js';
import { FakeAccounts, webhookOf } from '../../support/fake-accounts.js';
import { recordingLogger } from '../../support/recording-logger.js';
import { detail, RecoverableView } from '../../support/recoverable-view.js';

const ORDER: RecoveryOrder = { id: 'r-1', accountId: ACCOUNT, webhookId: 1, actor: 'a caller' };
const COUNT = 50;
const RUNNING: Recovery = {
  ...{ id: 'r-1', webhookId: 1, include: RECOVERABLE, perSecond: 20, count: COUNT, state: 'running' },
  ...{ since: new Date(NOW).toISOString(), until: new Date(NOW + 3_600_000).toISOString() },
  startedAt: new Date(NOW + 3_600_000).toISOString(),
};

let accounts: FakeAccounts;
let view: RecoverableView;
let commands: Command[];
let sent: { readonly id: string; readonly at: number }[];
let clock: number;
let parts: RecoveryRunParts;

beforeEach(() => {
  accounts = new FakeAccounts();
  accounts.put(webhookOf(1));
  accounts.recoveries = [RUNNING];
  view = new RecoverableView(...Array.from({ length: COUNT }, (_, n) => detail(n)));
  commands = [];
  sent = [];
  clock = 0;
  parts = {
    broker: { extent: async () => new Map([[0, { first: 0, next: 7 }]]) },
    topics: { deliveries: 'deliveries' },
    ...{ view, accounts, sendAgain: putBack, logger: recordingLogger() },
    handleCommand: async (_, command) => {
      commands.push(command);
      if (command.type === 'FinishRecovery') accounts.recoveries = [{ ...RUNNING, state: command.state }];
      return { kind: 'accepted', events: [] };
    },
    now: () => NOW,
    monotonicNow: () => clock,
    pause: async (ms) => {
      clock += Math.max(0, ms);
    },
    mustBeOwn: async () => undefined,
    takeSend: () => 0,
  };
});

async function putBack({ id }: { id: string }): Promise<SentAgain> {
  sent.push({ id, at: clock });
  view.putBack.set('r-1', (view.putBack.get('r-1') ?? new Set()).add(id));
  return 'put-back';
}

const ids = () => sent.map(({ id }) => id);
const ALL = Array.from({ length: COUNT }, (_, n) => detail(n).id);
const ends = () => commands.flatMap((command) => (command.type === 'FinishRecovery' ? command.state : []));

describe('a recovery', () => {
  it('sends each delivery once, oldest first, and is done', async () => {
    await runRecovery(parts, ORDER);
    expect(ids()).toEqual(ALL);
    expect(ends()).toEqual(['done']);
  });

  it('sends no more than its rate, by the monotonic clock', async () => {
    await runRecovery(parts, ORDER);
    expect(sent.map(({ at }) => at)).toEqual(ALL.map((_, n) => n * 50));
  });

  it('does not catch up after it stood still', async () => {
    const sendAgain: RecoveryRunParts['sendAgain'] = async (known) => {
      if (sent.length === 10) clock += 10_000;
      return putBack(known);
    };
    await runRecovery({ ...parts, sendAgain }, ORDER);
    const late = sent.slice(10, 13).map(({ at }) => at);
    expect(late.map((at) => at - (late[0] ?? 0))).toEqual([0, 0, 50]);
  });

  it('asks whether its account may send, and whether the record is its own, before each delivery', async () => {
    const asked = { account: 0, own: 0 };
    const takeSend = () => {
      asked.account += 1;
      return 0;
    };
    const mustBeOwn = async () => {
      asked.own += 1;
    };
    await runRecovery({ ...parts, takeSend, mustBeOwn }, ORDER);
    // Once more to find that there are no more.
    expect(asked).toEqual({ account: COUNT + 1, own: COUNT + 1 });
  });

  it('leaves out what was delivered or cancelled while it waited for its turn', async () => {
    const pause = async (ms: number) => {
      clock += Math.max(0, ms);
      if (sent.length === 10) view.details = view.details.filter(({ eventId }) => eventId !== 'pay-10');
    };
    await runRecovery({ ...parts, pause }, ORDER);
    expect(ids()).toEqual(ALL.filter((id) => id !== detail(10).id));
  });

  it('leaves out what can not be sent, and goes on', async () => {
    const sendAgain: RecoveryRunParts['sendAgain'] = async (known) =>
      known.eventId === 'pay-3' ? 'gone' : putBack(known);
    await runRecovery({ ...parts, sendAgain }, ORDER);
    expect(ids()).toEqual(ALL.filter((id) => id !== detail(3).id));
    expect(ends()).toEqual(['done']);
  });
});

describe('a recovery ends early', () => {
  const onceSent = (count: number, then: () => void): RecoveryRunParts['sendAgain'] => {
    return async (known) => {
      if (sent.length === count - 1) then();
      return putBack(known);
    };
  };

  it('when its account stops it: nothing is sent after that', async () => {
    const stop = () => {
      accounts.recoveries = [{ ...RUNNING, state: 'stopped' }];
    };
    await runRecovery({ ...parts, sendAgain: onceSent(7, stop) }, ORDER);
    expect([sent.length, commands]).toEqual([7, []]);
  });

  it('as stopped when its webhook becomes inactive', async () => {
    const off = () => accounts.put(webhookOf(1, { isActive: false, offBy: 'service' }));
    await runRecovery({ ...parts, sendAgain: onceSent(7, off) }, ORDER);
    expect([sent.length, ends()]).toEqual([7, ['stopped']]);
  });

  it('when its webhook is removed, and with it the recovery', async () => {
    const remove = () => {
      accounts.remove(1);
      accounts.recoveries = [];
    };
    await runRecovery({ ...parts, sendAgain: onceSent(7, remove) }, ORDER);
    expect([sent.length, commands]).toEqual([7, []]);
  });
});

describe('its record', () => {
  it('may come before the event in the history: it is looked for again', async () => {
    accounts.recoveries = [];
    const pause = async (ms: number) => {
      clock += ms;
      if (clock === 5_000) accounts.recoveries = [RUNNING];
    };
    await runRecovery({ ...parts, pause }, ORDER);
    expect(ids()).toEqual(ALL);
  });

  it('is dropped after a minute without its event, and where the recovery has ended', async () => {
    accounts.recoveries = [];
    await runRecovery(parts, ORDER);
    expect([clock, ids()]).toEqual([60_000, []]);
    accounts.recoveries = [{ ...RUNNING, state: 'done' }];
    await runRecovery(parts, ORDER);
    expect([ids(), commands]).toEqual([[], []]);
  });
});

describe('the view', () => {
  it('is waited for until it has all entries that the topic had: what a killed process put back is not sent again', async () => {
    view.putBack.set('r-1', new Set());
    let looks = 0;
    view.reached = () => {
      looks += 1;
      if (looks === 3) view.putBack.set('r-1', new Set(ALL.slice(0, 20)));
      return looks < 3 ? 6 : 7;
    };
    await runRecovery(parts, ORDER);
    expect(ids()).toEqual(ALL.slice(20));
  });

  it('that is discarded is no end: the recovery waits for the next one, and sends nothing twice', async () => {
    const sendAgain: RecoveryRunParts['sendAgain'] = async (known) => {
      if (sent.length === 19) view.id = '';
      return putBack(known);
    };
    const pause = async (ms: number) => {
      clock += Math.max(0, ms);
      if (ms === 200) view.id = 'view-2';
    };
    await runRecovery({ ...parts, sendAgain, pause }, ORDER);
    expect(ids()).toEqual(ALL);
    expect(ends()).toEqual(['done']);
  });
});

describe('killed at any point', () => {
  const killed = new Error('killed');
  const POINTS = ['before it is put back', 'after it is put back', 'before the entry is in the view'] as const;

  it.each(POINTS)(
    '%s, another run goes on: nothing is lost, and only what was in flight is repeated',
    async (point) => {
      for (const at of [0, 1, 19, 20, 21, COUNT - 1]) {
        sent.length = 0;
        view.putBack.clear();
        accounts.recoveries = [RUNNING];
        let attempted = 0;
        const sendAgain: RecoveryRunParts['sendAgain'] = async (known) => {
          attempted += 1;
          if (attempted !== at + 1) return putBack(known);
          if (point === 'before it is put back') throw killed;
          await putBack(known);
          if (point === 'before the entry is in the view') view.putBack.get('r-1')?.delete(known.id);
          throw killed;
        };
        await expect(runRecovery({ ...parts, sendAgain }, ORDER)).rejects.toThrow(killed);
        await runRecovery(parts, ORDER);
        const repeated = point === 'before the entry is in the view' ? ALL.slice(at, at + 1) : [];
        expect(ids().toSorted()).toEqual([...ALL, ...repeated].toSorted());
      }
    },
  );

  it('before its end is in the history: the next run ends it, and sends nothing', async () => {
    const handleCommand = () => Promise.reject(killed);
    await expect(runRecovery({ ...parts, handleCommand }, ORDER)).rejects.toThrow(killed);
    await runRecovery(parts, ORDER);
    expect([ids(), ends()]).toEqual([ALL, ['done']]);
  });
});
