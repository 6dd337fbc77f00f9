import { createPrivateKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InvalidConfig } from '../../src/settings/invalid-config.js';
import { readConfig } from '../../src/settings/read-config.js';
import { certificatesFrom, clientCertificateFrom } from '../../src/settings/setting-files.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';
import { certificateFor, testAuthority } from '../support/servers/certificates.js';

let folder: ReturnType<typeof temporaryDirectory>;
let file: (name: string, text: string) => string;

beforeEach(() => {
  folder = temporaryDirectory();
  file = (name, text) => {
    const path = join(folder.path, name);
    writeFileSync(path, text);
    return path;
  };
});

afterEach(() => folder.remove());

function clientCertificate(cert: string, key: string, of: 'DELIVERY' | 'KAFKA' = 'DELIVERY') {
  const config = readConfig({ [`${of}_CLIENT_CERT_FILE`]: cert, [`${of}_CLIENT_KEY_FILE`]: key });
  return clientCertificateFrom(config, of);
}

it('takes certificates in PEM, and a key that belongs to its certificate', async () => {
  const ca = (await testAuthority()).cert;
  const { cert, key } = await certificateFor();
  expect(certificatesFrom('DELIVERY_CA_FILE', file('ca.pem', ca))).toBe(ca);
  expect(clientCertificate(file('cert.pem', cert), file('key.pem', key))).toEqual({ cert, key });
  expect(certificatesFrom('DELIVERY_CA_FILE', file('both.pem', `a CA\n${key}\n${cert}\n${ca}`))).toContain(ca);
  expect(clientCertificate('', '')).toEqual({});
});

it('names the setting of a file that is not there or holds something else', async () => {
  const { cert, key } = await certificateFor();
  const other = (await certificateFor(['other.example'])).key;
  const path = (text: string) => file(`${Math.random()}.pem`, text);
  const calls: [string, () => unknown][] = [
    ['DELIVERY_CA_FILE', () => certificatesFrom('DELIVERY_CA_FILE', join(folder.path, 'nowhere'))],
    ['DELIVERY_CA_FILE', () => certificatesFrom('DELIVERY_CA_FILE', path('no PEM'))],
    ['DELIVERY_CA_FILE', () => certificatesFrom('DELIVERY_CA_FILE', path(key))],
    ['DELIVERY_CA_FILE', () => certificatesFrom('DELIVERY_CA_FILE', path(cert + cert.slice(0, -40)))],
    ['DELIVERY_CA_FILE', () => certificatesFrom('DELIVERY_CA_FILE', path(`${cert}\n${cert.replace('MII', 'MIJ')}`))],
    ['DELIVERY_CLIENT_CERT_FILE', () => clientCertificate(path('no PEM'), path(key))],
    ['DELIVERY_CLIENT_KEY_FILE', () => clientCertificate(path(cert), path('no PEM'))],
    ['DELIVERY_CLIENT_KEY_FILE', () => clientCertificate(path(cert), path(other))],
    ['KAFKA_CLIENT_CERT_FILE', () => clientCertificate(path('no PEM'), path(key), 'KAFKA')],
    ['KAFKA_CLIENT_KEY_FILE', () => clientCertificate(path(cert), path(other), 'KAFKA')],
  ];
  for (const [setting, call] of calls) {
    expect(call).toThrow(InvalidConfig);
    expect(call).toThrow(new RegExp(`^${setting} names `));
    expect(call).not.toThrow(folder.path);
  }
});

it.each(['pkcs8', 'sec1'] as const)('says that a client key (%s) is encrypted', async (type) => {
  const { cert, key } = await certificateFor();
  const encrypted = createPrivateKey(key).export({ type, format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' });
  for (const server of ['DELIVERY', 'KAFKA'] as const) {
    expect(() => clientCertificate(file('cert.pem', cert), file('key.pem', String(encrypted)), server)).toThrow(
      new InvalidConfig(
        `${server}_CLIENT_KEY_FILE names an encrypted key; decrypt it: the service takes no passphrase`,
      ),
    );
  }
});
