/** What the command line says to wrong usage, and its help. */
import { cli, commandsIn, helpOfAll } from '../support/clients/in-process-cli.js';

describe('help', () => {
  test('a help b and a b --help are the same, for every nested command', async () => {
    const nested = [...(await helpOfAll())].filter(([command]) => command.includes(' '));
    expect(nested.length).toBeGreaterThan(10);
    for (const [command, help] of nested) {
      const [group = '', name = ''] = command.split(' ');
      expect(help).toMatch(new RegExp(`^Usage: account-webhooks ${command} `));
      expect(await cli(group, 'help', name)).toEqual({ code: 0, stdout: help, stderr: '' });
    }
  });

  test.each([[['help']], [['--help']]])('%j shows all commands', async (args) => {
    const { code, stdout } = await cli(...args);
    expect(code).toBe(0);
    expect(commandsIn(stdout)).toEqual(expect.arrayContaining(['serve', 'audit', 'demo']));
  });

  test.each([
    [['help', 'audti'], 'account-webhooks'],
    [['audit', 'help', 'lgo'], 'account-webhooks audit'],
  ])('%j, which there is not, shows what there is, as wrong usage', async (args, group) => {
    const { code, stdout, stderr } = await cli(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^Usage: ${group} \\[options\\] \\[command\\]\n`));
  });
});

describe('a mistyped option is said', () => {
  test.each([
    [['audit', 'log', '--acount', '42'], '--acount', '--account'],
    [['token', '--client-id', 'a', '--client-secrt', 'b'], '--client-secrt', '--client-secret'],
    [['webhooks', 'add', '--urll', 'x'], '--urll', '--url'],
    [['accounts', 'register', '--jsn'], '--jsn', '--json'],
    [['audit', '--jsn', 'log'], '--jsn', null],
  ])('%j', async (args, mistyped, meant) => {
    const { code, stdout, stderr } = await cli(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.split('\n')[0]).toBe(`error: unknown option '${mistyped}'`);
    if (meant) expect(stderr).toContain(`(Did you mean ${meant}?)`);
  });

  test.each(['-Zx3_secret', '--Zx3_secret', '-x3=secret', "-Zx'3_secret'"])(
    'a secret that begins like an option is not repeated: %s',
    async (secret) => {
      const { code, stderr } = await cli('token', '--client-id', 'a', '--client-secret', 'b', secret);
      expect(code).toBe(2);
      expect(stderr.split('\n')[0]).toMatch(/^error: unknown option$/);
      expect(stderr).not.toContain(secret);
    },
  );

  test.each([
    ['audit', 'at', '--account', '42', '--time', '2026-02-30T09:00:00Z'],
    ['audit', 'completeness', '--from', '2026-02-30', '--to', '2026-03-02'],
    ['webhooks', 'recover', '1', '--since', '2026-11-31T00:00:00Z'],
    ['audit', 'at', '--account', '42', '--time', '2026-11-21Tx09:00:00Z'],
  ])('a time that does not exist is no other time: %j', async (...args) => {
    const { code, stderr } = await cli(...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining('Write a time as')]);
  });

  test.each([
    [['audit', 'log'], '--account'],
    [['audit', 'at'], '--account'],
    [['audit', 'at', '--account', '42'], '--time'],
  ])('%j: what is missing is said where nothing is mistyped', async (args, missing) => {
    const { code, stderr } = await cli(...args);
    expect(code).toBe(2);
    expect(stderr).toMatch(new RegExp(`^error: required option '${missing} `));
  });
});
