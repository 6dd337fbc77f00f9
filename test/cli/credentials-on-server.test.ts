import { credentialsOnServer } from '../../src/cli/accounts.js';

const ID = 'acct_42_0123456789abcdef';

describe('a credential on the server’s projections', () => {
  it.each<[string, () => Promise<unknown>, boolean]>([
    ['is known if the state has it', async () => ({ credentials: [null, { clientId: ID }] }), true],
    ['is unknown if the state lacks it', async () => ({ credentials: [{ clientId: 'another' }] }), false],
    ['is unknown without a state', async () => ({}), false],
    ['is unknown if the state is malformed', async () => ({ credentials: 7 }), false],
    ['is unknown if the projections are not deployed', () => Promise.reject(new Error('missing')), false],
    ['is unknown if the server does not respond', () => new Promise(() => undefined), false],
  ])('%s', async (_, state, isKnown) => {
    const asked: string[][] = [];
    const known = credentialsOnServer({
      state: (...args) => {
        asked.push(args);
        return state();
      },
    });
    expect(await known(42, ID)).toBe(isKnown);
    expect(asked).toEqual([['account-credentials', 'account-42']]);
  });
});
