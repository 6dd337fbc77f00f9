import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { javaFlags } from '../services/kafka/java.js';
import { commandLine } from '../support/clients/in-process-cli.js';
import type { Settings } from '../support/clients/service.js';
import { kafkaInstallation } from '../support/scenes/kafka-installation.js';
import { paymentEvents } from '../support/scenes/story.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';
import { certificateFor } from '../support/servers/certificates.js';
import { asUser, withListeners } from '../support/servers/own-kafka.js';

/** SCRAM-SHA-256 differs within kafkajs alone. */
const SCRAM = 'SCRAM-SHA-512';

withListeners((listeners) => {
  const { caFile: KAFKA_CA_FILE } = listeners;
  const folder = temporaryDirectory();
  afterAll(() => folder.remove());

  const at = (name: keyof typeof listeners): Settings => ({ BROKER_URL: `kafka://${listeners[name]}` });
  const user = asUser(listeners, 'root');
  const certificate: Record<string, string> = { KAFKA_CA_FILE };

  beforeAll(async () => {
    const { cert, key } = await certificateFor();
    for (const [setting, pem] of Object.entries({ KAFKA_CLIENT_CERT_FILE: cert, KAFKA_CLIENT_KEY_FILE: key })) {
      certificate[setting] = join(folder.path, setting);
      writeFileSync(certificate[setting], pem);
    }
    const sam = ['--entity-type', 'users', '--entity-name', 'sam', '--alter', '--add-config'];
    const java = ['-Dorg.slf4j.simpleLogger.defaultLogLevel=error', ...javaFlags(() => undefined)];
    const tool = [
      'kafka.admin.ConfigCommand',
      '--bootstrap-server',
      listeners.CLIENTS,
      ...sam,
      `${SCRAM}=[password=sam-pw]`,
    ];
    await promisify(execFile)('java', ['-Xmx128m', ...java, ...tool]);
  });

  async function against(changes: Settings, args: readonly string[], stdin?: string) {
    const { settings, remove } = await kafkaInstallation(listeners.CLIENTS, [], changes);
    try {
      return await commandLine(settings, args, stdin);
    } finally {
      await remove();
    }
  }
  const publish = (changes: Settings) => against(changes, ['events', 'publish', '--json'], paymentEvents(1, 3));

  test.each([
    ['TLS with a CA file and PLAIN', () => user],
    ['TLS with a CA file and SCRAM', () => asUser(listeners, 'sam', SCRAM)],
    ['a client certificate that is demanded', () => ({ ...at('CERTIFICATES'), ...certificate })],
  ] as const)('%s lets a client publish', async (_, settings) => {
    expect(await publish(settings())).toMatchObject({ code: 0, stdout: '{"published":3}\n' });
  });

  test.each([
    ['a wrong password', { ...user, KAFKA_SASL_PASSWORD: 'planted-secret' }, /KAFKA_SASL_PASSWORD/],
    ['an unknown user', { ...user, KAFKA_SASL_USERNAME: 'nobody' }, /KAFKA_SASL_USERNAME/],
    ['a CA that did not sign it', { ...user, KAFKA_CA_FILE: new URL(import.meta.url).pathname }, /KAFKA_CA_FILE/],
    ['a CA file that is not there', { ...user, KAFKA_CA_FILE: 'nowhere.pem' }, /KAFKA_CA_FILE/],
    ['no client certificate', { ...at('CERTIFICATES'), KAFKA_CA_FILE }, /client certificate.*KAFKA_CLIENT_CERT_FILE/],
  ])('%s ends the start with one line that names the setting', async (_, changes, says) => {
    const ports = { PORT: '0', ADMIN_PORT: '0', LOG_LEVEL: 'silent' };
    const { code, stdout, stderr } = await against({ ...changes, ...ports }, ['serve']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(says);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).not.toContain('planted-secret');
  });

  test.each([
    ['without TLS, which it speaks', at('CERTIFICATES'), /set KAFKA_TLS=true/],
    ['by TLS, which it does not speak', { ...at('CLIENTS'), KAFKA_CA_FILE }, /unset KAFKA_TLS, KAFKA_CA_FILE/],
    ['at a name that does not resolve', at('UNRESOLVED'), /the name nowhere\.invalid of Kafka .*advertised\.listeners/],
  ])('connecting %s: a command names the cause and the setting', async (_, changes, says) => {
    const stderr = expect.stringMatching(says);
    expect(await publish(changes)).toMatchObject({ code: 1, stdout: '', stderr });
  });
});
