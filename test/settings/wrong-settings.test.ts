/** All that is wrong is said at once. */
import { WrongSettings } from '../../src/settings/invalid-config.js';
import { type Environment, readConfig } from '../../src/settings/read-config.js';
import { SETTINGS } from '../../src/settings/table.js';
import { commandLine } from '../support/in-process-cli.js';
import { KEY } from '../support/settings-table.js';

function keysOf(environment: Environment): readonly string[] {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof WrongSettings) {
      expect(error.lines.map((line) => line.split(' ')[0])).toEqual(error.keys);
      return error.keys;
    }
    throw error;
  }
  return [];
}

/** Wrong for every setting that does not take any text. */
const NOTHING_OF_OURS = '\u0000';

test('each setting that takes not any text has its line, in the order of the table', () => {
  const everything = Object.fromEntries(SETTINGS.map(({ key }) => [key, NOTHING_OF_OURS]));
  const choosy = SETTINGS.filter(({ parser }) => parser.parse(NOTHING_OF_OURS) === undefined).map(({ key }) => key);
  expect(choosy.length).toBeGreaterThan(25);
  expect(keysOf(everything)).toEqual(choosy);
});

test.each<[string, Environment, readonly string[]]>([
  [
    'what is wrong by itself first',
    { DELIVERY_CLIENT_KEY_FILE: 'k', PORT: 'x' },
    ['PORT', 'DELIVERY_CLIENT_CERT_FILE'],
  ],
  ['of a wrong value no more is said', { BROKER_URL: 'kafka://a:1', MASTER_KEY: 'x' }, ['MASTER_KEY']],
  [
    'a wrong value demands no other',
    { BROKER_URL: 'kafka://a', EVENT_STORE_URL: 'x' },
    ['EVENT_STORE_URL', 'BROKER_URL'],
  ],
  [
    'all that is missing',
    { BROKER_URL: 'kafka://a:1', KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_RETENTION: '0s' },
    ['MASTER_KEY', 'KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD', 'KAFKA_RETENTION'],
  ],
  ['one that is not asked for', { KAFKA_SASL_PASSWORD: 'p', KAFKA_RETENTION: '0s' }, []],
  ['nothing', { BROKER_URL: 'kafka://a:1', MASTER_KEY: KEY }, []],
])('%s', (_what, environment, keys) => {
  expect(keysOf(environment)).toEqual(keys);
});

test.each([['serve'], ['deliveries', 'list', '--account', '1']])('%s ends with a line for each', async (...args) => {
  const wrong = { PORT: 'hush', LOG_LEVEL: 'hush', DELIVERY_CLIENT_CERT_FILE: 'hush' };
  const { code, stdout, stderr } = await commandLine(wrong, args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr.split('\n')).toEqual([
    'PORT must be a port from 0 to 65535',
    'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent',
    'DELIVERY_CLIENT_KEY_FILE must be set where DELIVERY_CLIENT_CERT_FILE is',
    'account-webhooks: set right: PORT, LOG_LEVEL, DELIVERY_CLIENT_KEY_FILE',
    '',
  ]);
});
