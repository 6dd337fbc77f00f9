import { commandLine } from '../support/in-process-cli.js';
import type { Settings } from '../support/service.js';
import { installation, register } from '../support/story.js';

let settings: Settings;
let remove: () => Promise<void>;

beforeAll(async () => {
  ({ settings, remove } = await installation([]));
  await register(settings, 42);
});

afterAll(() => remove());

describe.each([
  { args: ['deliveries', 'list'] },
  { args: ['dead-letters', 'replay'] },
  { args: ['audit', 'log'] },
  { args: ['audit', 'completeness', '--from', '2026-01-01', '--to', '2026-01-02'] },
  { args: ['accounts', 'issue-credential'], option: false },
])('$args of an account', ({ args, option = true }) => {
  const of = (account: string) =>
    commandLine(settings, [...args, ...(option ? ['--account', account] : [account]), '--json']);

  test('that is not registered fails, and says so', async () => {
    // An id that the registered one begins with.
    expect(await of('4')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'account-webhooks: account 4 is not registered\n',
    });
  });

  test('that has nothing to tell is done', async () => {
    expect(await of('42')).toMatchObject({ code: 0, stderr: '' });
  });
});

test('an account without deliveries prints nothing', async () => {
  expect(await commandLine(settings, ['deliveries', 'list', '--account', '42'])).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
});
