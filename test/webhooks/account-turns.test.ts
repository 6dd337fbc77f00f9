import { BrokerUnavailable } from '../../src/ports/broker.js';
import { StoreUnavailable } from '../../src/ports/event-store.js';
import { AccountTurns, TooManyWaiting } from '../../src/webhooks/account-turns.js';

interface Held {
  readonly result: Promise<string>;
  end(error?: Error): void;
}

let turns: AccountTurns;
let running: string[];
beforeEach(() => {
  turns = new AccountTurns();
  running = [];
});

/** A command that goes on until it is ended. */
function command(accountId: number, name: string, by: 'account' | 'service' = 'account'): Held {
  let end: Held['end'] = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    end = (error) => (error ? reject(error) : resolve());
  });
  const result = turns.take(
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
      turns.take(accountId, async ({ changed }) => {
        order.push(name);
        changed(characters);
      });
    const begun = performance.now();
    await change(1, 'large', 1_000_000);
    const next = change(1, 'next', 100_000);
    await change(2, 'another', 100_000);
    await change(2, 'another again', 100_000);
    await next;
    expect(performance.now() - begun).toBeGreaterThan(35);
    expect(order).toEqual(['large', 'another', 'another again', 'next']);
  });

  it('are refused where 1,000 wait; those of the service are not, nor is another account', async () => {
    const held = Array.from({ length: 1_001 }, (_, index) => command(1, String(index)));
    await expect(command(1, 'too many').result).rejects.toThrow(TooManyWaiting);
    const [ofService, other] = [command(1, 'of the service', 'service'), command(2, 'other')];
    for (const each of [...held, ofService, other]) each.end();
    await Promise.all(held.map(({ result }) => result));
    expect(await ofService.result).toBe('of the service');
    expect(await other.result).toBe('other');
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
