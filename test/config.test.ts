import { describe, expect, it } from '@jest/globals';
import { type Environment, InvalidConfig, readConfig } from '../src/config.js';
import { KEY, SETTINGS } from './support/settings-table.js';

function refusalOf(environment: Environment): string {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof InvalidConfig) return error.message;
    throw error;
  }
  throw new Error('it was taken');
}

describe.each(SETTINGS)('$key', ({ key, at, byDefault, good, wrong = [] }) => {
  it('has its default where it is not set or empty', () => {
    expect(at(readConfig({}))).toEqual(byDefault);
    expect(at(readConfig({ [key]: undefined }))).toEqual(byDefault);
    expect(at(readConfig({ [key]: '' }))).toEqual(byDefault);
  });

  it('is taken, and changes nothing else', () => {
    for (const [value, becomes] of good) {
      const config = readConfig({ [key]: value });
      expect(at(config)).toEqual(becomes);
      const others = SETTINGS.filter((row) => row.key !== key);
      expect(others.map((row) => row.at(config))).toEqual(others.map((row) => row.byDefault));
    }
  });

  it('names itself where its value is wrong, and does not show the value', () => {
    for (const value of wrong) {
      const message = refusalOf({ [key]: value });
      expect(message.split(' ')[0]).toBe(key);
      if (value.length > 20) expect(message).not.toContain(value.trim());
    }
  });
});

describe('the certificate shown to receivers', () => {
  const files = { DELIVERY_CLIENT_CERT_FILE: 'cert.pem', DELIVERY_CLIENT_KEY_FILE: 'key.pem' };

  it('is none by default, and is its two files', () => {
    expect(readConfig({}).delivery).toMatchObject({ clientCertFile: null, clientKeyFile: null });
    expect(readConfig(files).delivery).toMatchObject({ clientCertFile: 'cert.pem', clientKeyFile: 'key.pem' });
  });

  it.each([
    ['DELIVERY_CLIENT_KEY_FILE', { ...files, DELIVERY_CLIENT_KEY_FILE: '' }],
    ['DELIVERY_CLIENT_CERT_FILE', { ...files, DELIVERY_CLIENT_CERT_FILE: undefined }],
  ])('needs both: %s is missing', (key, environment) => {
    expect(refusalOf(environment).startsWith(`${key} `)).toBe(true);
  });
});

it.each(['MASTER_KEY', 'MASTER_KEY_PREVIOUS', 'AUTH_JWKS_URL', 'EVENT_STORE_URL', 'BROKER_URL', 'PORT', 'LOG_LEVEL'])(
  'a secret that was put into %s by mistake is not shown',
  (key) => {
    for (const secret of ['esdb://admin:changeit@host', 'hunter2-hunter2', `${KEY}${KEY}`]) {
      const message = refusalOf({ [key]: secret });
      for (const part of [secret, 'changeit', 'hunter2', KEY]) expect(message).not.toContain(part);
    }
  },
);

it('what is not a setting is left alone, whatever its name', () => {
  expect(readConfig({ PATH: '/bin', HTTPS_PROXY: 'http://proxy', ['__proto__']: 'x', port: 'x' })).toEqual(
    readConfig({}),
  );
});
