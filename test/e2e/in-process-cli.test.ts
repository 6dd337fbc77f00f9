/** What other tests run within their own process ends as the built command does: its code, and all that it says. */
import { join } from 'node:path';
import { commandLine } from '../support/in-process-cli.js';
import { run, type Settings } from '../support/service.js';
import { poisonTopic } from '../support/sqlite-subjects.js';
import { installation, paymentEvents, register } from '../support/story.js';
import { inFull } from '../support/thorough.js';

const NO_SERVICE = ['--url', 'http://127.0.0.1:1'];

let settings: Settings;
let remove: () => Promise<void>;
beforeAll(async () => {
  const installed = await installation([]);
  ({ remove } = installed);
  settings = { ...installed.settings, ADMIN_PORT: '0', PORT: '0' };
  await register(settings, 42);
});
afterAll(() => remove());

const COMMANDS: [string[], string?][] = [
  [['accounts', 'register', '42', '--json']],
  [['publishers', 'register', 'a b']],
  [['events', 'publish', ...NO_SERVICE, '--client-id', 'a', '--client-secret', 'b'], paymentEvents(42, 2)],
  [['token', '--client-id', 'a', '--client-secret', 'b', ...NO_SERVICE]],
  [['webhooks', 'list', '--tokn=secret']],
  [['events', 'publish', '--json'], `not json\n${paymentEvents(42, 2)}`],
  [['audit', 'log', '--account', '42']],
  [['audit', 'at', '--account', '42', '--time', '2020-01-01']],
  [['projections', 'deploy']],
  [['deliveries', 'list', '--account', '7', '--json']],
  [['dead-letters', 'replay', '--json']],
  [['doctor']],
  [['backup', '--json']],
  [['nonsense']],
  [['help', 'audit', 'log']],
];

test.each(inFull(COMMANDS, COMMANDS.slice(0, 7)))('%j', async (args, stdin = '') => {
  const ended = async (by: typeof run) => {
    // Processes of tests have a proxy that nothing may use, and doctor says so.
    const { code, stdout, stderr } = await by({ ...settings, HTTPS_PROXY: '' }, args, stdin);
    // Other tests write to the same disk.
    return { code, stdout: stdout.replace(/\d+ MiB are free/, 'many MiB are free'), stderr };
  };
  expect(await ended(commandLine)).toEqual(await ended(run));
});

test('settings that are wrong', async () => {
  const wrong = { ...settings, LOG_LEVEL: 'loud', DATA_DIR: join(String(settings.DATA_DIR), 'store.sqlite', 'below') };
  for (const args of [['doctor'], ['events', 'publish']])
    expect(await commandLine(wrong, args)).toEqual(await run(wrong, args));
});

test('what is logged', async () => {
  const topic = 'webhooks.dead-letter';
  await commandLine({ ...settings, PAYMENT_TOPICS: topic, TOPIC_PREFIX: 'own.' }, ['events', 'publish'], 'a record');
  poisonTopic(String(settings.DATA_DIR), topic);
  const logged = async (by: typeof run) => {
    const { code, stdout, stderr } = await by(settings, ['dead-letters', 'list', '--json']);
    return { code, stdout, stderr: stderr.replace(/"time":"[^"]*"/, '') };
  };
  const here = await logged(commandLine);
  expect(here.stderr).toContain('"level":40');
  expect(here).toEqual(await logged(run));
});
