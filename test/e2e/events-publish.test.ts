/** events publish: what is no payment event is said with its number and reason; with --check it keeps all from being published. */
import { SqliteBroker } from '../../src/adapters/sqlite/broker.js';
import { StoreFile } from '../../src/adapters/sqlite/store-file.js';
import { topicRecords } from '../../src/ports/topic-records.js';
import { commandLine } from '../support/clients/in-process-cli.js';
import { type ServiceHere, serveHere } from '../support/clients/in-process-service.js';
import { run, type Settings } from '../support/clients/service.js';
import { STRUCTURED } from '../support/generators/cloud-events.js';
import { installation, paymentEvents, register } from '../support/scenes/story.js';

let settings: Settings;
let remove: () => Promise<void>;

beforeEach(async () => {
  await remove?.();
  ({ settings, remove } = await installation([]));
  await register(settings, 7);
});
afterAll(() => remove());

const publish = (lines: string, ...options: readonly string[]) =>
  run(settings, ['events', 'publish', ...options], lines);

async function published(): Promise<string[]> {
  const file = new StoreFile(settings.DATA_DIR ?? '');
  const broker = new SqliteBroker(file);
  const records: string[] = [];
  for await (const { key, value } of topicRecords(broker, 'payment-events')) records.push(`${key ?? '-'} ${value}`);
  await broker.close();
  file.close();
  return records;
}

const [good = '', better = ''] = paymentEvents(42, 2).trim().split('\n');
const cloudEvent = JSON.stringify(STRUCTURED);
const WRONG = '{"id":"a","type":"cash_sideways","accountId":42}';
const MIXED = `${good}\n\n${WRONG}\r\n${cloudEvent}\nno JSON`;
const SAID = [
  'line 3 is not a payment event: type is not a known event type',
  'line 5 is not a payment event: the record is not JSON',
];

const orders = (records: readonly string[]) => [...records].sort();
const saidBy = (stderr: string) => stderr.split('\n').filter((line) => line.startsWith('line '));

test('a topic that nobody reads is refused', async () => {
  const { code, stdout, stderr } = await publish(good, '--topic', 'payment-evnts');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('--topic must be one of PAYMENT_TOPICS: payment-events');
});

describe('without --check', () => {
  test('each line is published without its line end, with its account as the key; what is no event is said', async () => {
    const { code, stdout, stderr } = await publish(MIXED, '--json');
    expect({ code, stdout, said: stderr.trim().split('\n') }).toEqual({
      code: 0,
      stdout: '{"published":4}\n',
      said: SAID,
    });
    expect(orders(await published())).toEqual(orders([`42 ${good}`, `42 ${WRONG}`, `42 ${cloudEvent}`, '- no JSON']));
  });
});

describe('with --check', () => {
  test('nothing is published where one line is no event; each is said', async () => {
    const { code, stdout, stderr } = await publish(MIXED, '--check');
    expect({ code, stdout, said: saidBy(stderr) }).toEqual({ code: 1, stdout: '', said: SAID });
    expect(stderr).toMatch(/nothing was published: 2 lines are not payment events\n$/);
    expect(await published()).toEqual([]);
  });

  test('all is published where every line is an event, byte by byte and in order', async () => {
    const lines = `${paymentEvents(42, 1_200)}\n${better}`;
    expect(await publish(lines, '--check', '--json')).toEqual({ code: 0, stdout: '{"published":1201}\n', stderr: '' });
    const expected = lines.split('\n').filter(Boolean);
    expect(await published()).toEqual(expected.map((line) => `42 ${line}`));
  });
});

describe('with --url', () => {
  let service: ServiceHere;
  let credentials: Settings;

  beforeEach(async () => {
    service = await serveHere({ ...settings, PAYMENT_TOPICS: 'payment-events,other' });
    const { stdout } = await commandLine(settings, ['publishers', 'register', 'ledger', '--json']);
    const { clientId, clientSecret } = JSON.parse(stdout);
    credentials = { ACCOUNT_WEBHOOKS_CLIENT_ID: clientId, ACCOUNT_WEBHOOKS_CLIENT_SECRET: clientSecret };
  });
  afterEach(() => service.stop());

  const viaHttp = (lines: string, ...options: readonly string[]) =>
    commandLine(credentials, ['events', 'publish', '--url', service.url, ...options], lines);

  test('the lines go through the service without their line ends, in order, in batches; no other setting is needed', async () => {
    const lines = `${paymentEvents(42, 1_200)}\r\n${cloudEvent}\n${better}\r`;
    expect(await viaHttp(lines, '--json')).toEqual({ code: 0, stdout: '{"published":1202}\n', stderr: '' });
    const expected = lines.split('\n').filter((line) => line.trim());
    expect(await published()).toEqual(expected.map((line) => `42 ${line.trimEnd()}`));
  });

  test('what is no payment event is said and left out, and the command fails', async () => {
    const { code, stdout, stderr } = await viaHttp(MIXED);
    expect({ code, stdout, said: saidBy(stderr) }).toEqual({ code: 1, stdout: 'published 2 events\n', said: SAID });
    expect(stderr).toMatch(/not everything was published: 2 lines are not payment events\n$/);
    expect(await published()).toEqual([`42 ${good}`, `42 ${cloudEvent}`]);
  });

  test('credentials that are wrong, of an account, or missing are refused', async () => {
    credentials = { ...credentials, ACCOUNT_WEBHOOKS_CLIENT_SECRET: 'x' };
    expect(await viaHttp(good)).toMatchObject({ code: 1, stderr: expect.stringContaining('401: invalid_client') });
    const account = await register(settings, 42);
    const given = ['--client-id', account.clientId, '--client-secret', account.clientSecret];
    expect(await viaHttp(good, ...given)).toMatchObject({ code: 1, stderr: expect.stringContaining('403: ') });
    credentials = {};
    expect(await viaHttp(good)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('ACCOUNT_WEBHOOKS_CLIENT_ID'),
    });
    expect(await published()).toEqual([]);
  });
});
