import { type Requester, requester } from '../../src/limits/user-limits.js';
import { BrokerUnavailable } from '../../src/ports/broker.js';
import { StoreUnavailable } from '../../src/ports/event-store.js';
import { AccountCommandQueue, CommandQueueFull } from '../../src/webhooks/account-command-queue.js';

interface Held {
  readonly result: Promise<string>;
  end(error?: Error): void;
}

let queue: AccountCommandQueue;
let running: string[];
beforeEach(() => {
  queue = new AccountCommandQueue();
  running = [];
});

/** A command that goes on until it is ended. */
function command(accountId: number, name: string, by: Requester | null = requester(accountId, 'a client')): Held {
  let end: Held['end'] = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    end = (error) => (error ? reject(error) : resolve());
  });
  const result = queue.run(
    accountId,
    async () => {
      running.push(name);
      await ended;
      running.splice(running.indexOf(name), 1);
      return name;
    },
    by,
  );
  result.catch(() => undefined);
  return { result, end };
}

const turn = () => new Promise(setImmediate);

describe('commands of an account', () => {
  it('are handled one after the other, in their order; those of another account beside them', async () => {
    const [a, b, c] = [command(1, 'a'), command(1, 'b'), command(1, 'c')];
    const other = command(2, 'other');
    await turn();
    expect(running).toEqual(['a', 'other']);
    a?.end();
    expect(await a?.result).toBe('a');
    await turn();
    expect(running).toEqual(['other', 'b']);
    for (const each of [b, c, other]) each.end();
    expect(await Promise.all([b.result, c.result, other.result])).toEqual(['b', 'c', 'other']);
  });

  it('wait after a change of a large one, and of no other account', async () => {
    const order: string[] = [];
    const change = (accountId: number, name: string, characters: number) =>
      queue.run(
        accountId,
        async ({ changed }) => {
          order.push(name);
          changed(characters);
        },
        requester(accountId, 'a client'),
      );
    const begun = performance.now();
    await change(1, 'large', 1_000_000);
    const next = change(1, 'next', 100_000);
    await change(2, 'another', 100_000);
    await change(2, 'another again', 100_000);
    await next;
    expect(performance.now() - begun).toBeGreaterThan(35);
    expect(order).toEqual(['large', 'another', 'another again', 'next']);
  });

  const by = (user: string) => requester(1, user);
  const several = (count: number, user: string) =>
    Array.from({ length: count }, (_, index) => command(1, `${user} ${index}`, by(user)));

  it('are rejected if 500 of their user are queued, or 1,000 of the account', async () => {
    const held = [command(1, 'running'), ...several(500, 'a')];
    await expect(command(1, 'too many', by('a')).result).rejects.toThrow(CommandQueueFull);
    held.push(...several(500, 'b'));
    await expect(command(1, 'too many', by('c')).result).rejects.toThrow(CommandQueueFull);
    const [ofService, other] = [command(1, 'of the service', null), command(2, 'other')];
    const reserved = command(1, 'reserved', { ...by('c'), mayExceed: () => true });
    for (const each of [...held, ofService, other, reserved]) each.end();
    await Promise.all(held.map(({ result }) => result));
    expect(await Promise.all([ofService, other, reserved].map(({ result }) => result))).toEqual([
      'of the service',
      'other',
      'reserved',
    ]);
  });

  it('take turns between users: one user does not wait for all commands of another', async () => {
    const held = [command(1, 'running', by('a')), ...several(3, 'a'), command(1, 'of b', by('b'))];
    const order: string[] = [];
    for (const { result, end } of held) {
      void result.then((name) => order.push(name));
      end();
    }
    await Promise.all(held.map(({ result }) => result));
    expect(order).toEqual(['running', 'a 0', 'of b', 'a 1', 'a 2']);
  });

  it.each([
    ['store', new StoreUnavailable('gone')],
    ['broker', new BrokerUnavailable('gone')],
  ])('do not wait for one another while the %s is away', async (_, away) => {
    const held = ['a', 'b', 'c', 'd'].map((name) => command(1, name));
    await turn();
    held[0]?.end(away);
    await turn();
    expect(running).toEqual(expect.arrayContaining(['b', 'c', 'd']));
    const later = command(1, 'later');
    await turn();
    expect(running).not.toContain('later');
    for (const each of held.slice(1)) each.end();
    await turn();
    expect(running).toContain('later');
    later.end();
    await later.result;
  });
});
