import { commandLine } from '../support/in-process-cli.js';
import { Served } from '../support/served.js';
import { type Finished, run, type Settings } from '../support/service.js';

const ID = 'ACCOUNT_WEBHOOKS_CLIENT_ID';
const SECRET = 'ACCOUNT_WEBHOOKS_CLIENT_SECRET';

const served = Served.around();

interface Given {
  readonly args?: readonly string[];
  readonly environment?: Settings;
  readonly stdin?: string;
}

const token = ({ args = [], environment = {}, stdin = '' }: Given, by = commandLine): Promise<Finished> =>
  by({ ...served.settings, ...environment }, ['token', '--url', served.service.url, ...args], stdin);

describe('the secret', () => {
  const id = () => ['--client-id', served.account.clientId];
  const secret = () => served.account.clientSecret;

  test.each<[string, () => Given]>([
    ['as an argument', () => ({ args: [...id(), '--client-secret', secret()] })],
    ['in the environment', () => ({ args: id(), environment: { [SECRET]: secret() } })],
    [
      'in the environment, as the client id',
      () => ({ environment: { [ID]: served.account.clientId, [SECRET]: secret() } }),
    ],
    ['on stdin', () => ({ args: id(), stdin: secret() })],
    [
      'on stdin that is asked for, whatever the environment has',
      () => ({
        args: [...id(), '--client-secret', '-'],
        environment: { [SECRET]: 'wrong' },
        stdin: `${secret()}\n`,
      }),
    ],
  ])('is taken %s', async (how, given) => {
    const by = how === 'in the environment' ? run : commandLine;
    const { code, stdout, stderr } = await token(given(), by);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trim().split('.')).toHaveLength(3);
  });

  test('that is wrong is refused by the service, and not shown', async () => {
    const { code, stdout, stderr } = await token({ args: id(), stdin: 'planted-secret' });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/401: invalid_client/);
    expect(stderr).not.toContain('planted');
  });

  test.each<[string, string[], Settings]>([
    ['nothing at all', [], {}],
    ['nothing on the stdin that is asked for', ['--client-secret', '-'], { [SECRET]: 'unused' }],
    ['an empty argument and variable', ['--client-secret', ''], { [SECRET]: '' }],
  ])('that is missing is wrong usage, and each way is named: %s', async (_, args, environment) => {
    const { code, stdout, stderr } = await token({ args: ['--client-id', 'a', ...args], environment, stdin: '\n' });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/no client secret: pipe it in, set ACCOUNT_WEBHOOKS_CLIENT_SECRET, or pass --client-/);
  });

  test('the help names the variables, and not what is in them', async () => {
    const { stdout } = await token({ args: ['--help'], environment: { [SECRET]: 'planted-secret' } });
    expect(stdout).toContain(`(env: ${ID})`);
    expect(stdout.replace(/\s+/g, ' ')).toContain(`(env: ${SECRET})`);
    expect(stdout).not.toContain('planted');
  });
});
