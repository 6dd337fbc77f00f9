import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { javaFlags } from '../services/kafka/java.js';
import { startKafka } from '../services/kafka/kafka-server.js';
import { commandLine } from '../support/clients/in-process-cli.js';
import type { Settings } from '../support/clients/service.js';
import { kafkaInstallation } from '../support/scenes/kafka-installation.js';
import { paymentEvents } from '../support/scenes/story.js';
import { certificateFor, testAuthority } from '../support/servers/certificates.js';
import { type OwnKafka, withOwnKafka } from '../support/servers/own-kafka.js';
import { inFull } from '../support/thorough.js';

const PLAIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="adm" password="adm-pw"';
const SCRAM = 'org.apache.kafka.common.security.scram.ScramLoginModule required;';

/** Each kind takes a start of Kafka's tool: a JVM. */
const SCRAM_KINDS = inFull(['SCRAM-SHA-256', 'SCRAM-SHA-512'], ['SCRAM-SHA-512']);

interface SecuredKafka extends OwnKafka {
  readonly caFile: string;
}

async function startSecuredKafka(): Promise<SecuredKafka> {
  const folder = mkdtempSync(join(tmpdir(), 'secured-kafka-'));
  const { key, cert } = await certificateFor(['127.0.0.1', 'localhost']);
  const caFile = join(folder, 'ca.pem');
  const keystore = join(folder, 'server.pem');
  writeFileSync(caFile, (await testAuthority()).cert);
  writeFileSync(keystore, `${key}${cert}`);
  const kafka = await startKafka({ folder, properties: secured(keystore, caFile) });
  const stop = async () => {
    await kafka.stop();
    rmSync(folder, { recursive: true });
  };
  await addScramUser(kafka.brokers, join(folder, 'client.properties'), caFile);
  return { ...kafka, caFile, stop };
}

function secured(keystore: string, caFile: string): Record<string, string> {
  const listener = 'listener.name.clients';
  return {
    'listener.security.protocol.map': 'CLIENTS:SASL_SSL,CONTROLLER:PLAINTEXT',
    'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
    'sasl.mechanism.inter.broker.protocol': 'PLAIN',
    [`${listener}.plain.sasl.jaas.config`]: `${PLAIN} user_adm="adm-pw";`,
    [`${listener}.scram-sha-256.sasl.jaas.config`]: SCRAM,
    [`${listener}.scram-sha-512.sasl.jaas.config`]: SCRAM,
    [`${listener}.ssl.keystore.type`]: 'PEM',
    [`${listener}.ssl.keystore.location`]: keystore,
    [`${listener}.ssl.truststore.type`]: 'PEM',
    [`${listener}.ssl.truststore.location`]: caFile,
  };
}

async function addScramUser(brokers: string, clientFile: string, caFile: string): Promise<void> {
  const client = [
    'security.protocol=SASL_SSL',
    'sasl.mechanism=PLAIN',
    `sasl.jaas.config=${PLAIN};`,
    'ssl.truststore.type=PEM',
    `ssl.truststore.location=${caFile}`,
  ];
  writeFileSync(clientFile, client.join('\n'));
  const user = ['--entity-type', 'users', '--entity-name', 'sam'];
  const args = ['--bootstrap-server', brokers, '--command-config', clientFile, '--alter', ...user, '--add-config'];
  for (const mechanism of SCRAM_KINDS) {
    const tool = [
      ...javaFlags(() => undefined),
      'kafka.admin.ConfigCommand',
      ...args,
      `${mechanism}=[password=sam-pw]`,
    ];
    await promisify(execFile)('java', ['-Xmx128m', '-Dorg.slf4j.simpleLogger.defaultLogLevel=error', ...tool]);
  }
}

withOwnKafka(() => {
  let kafka: SecuredKafka;
  let common: Settings;

  beforeAll(async () => {
    kafka = await startSecuredKafka();
    const plain = { KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_SASL_USERNAME: 'adm', KAFKA_SASL_PASSWORD: 'adm-pw' };
    common = { KAFKA_TLS: 'true', KAFKA_CA_FILE: kafka.caFile, ...plain };
  });

  afterAll(() => kafka?.stop());

  async function against<T>(changes: Settings, work: (settings: Settings) => Promise<T>): Promise<T> {
    const { settings, remove } = await kafkaInstallation(kafka.brokers, [], { ...common, ...changes });
    try {
      return await work(settings);
    } finally {
      await remove();
    }
  }

  const scram = (mechanism: string) => ({
    KAFKA_SASL_MECHANISM: mechanism,
    KAFKA_SASL_USERNAME: 'sam',
    KAFKA_SASL_PASSWORD: 'sam-pw',
  });

  const mechanisms: readonly [string, Settings][] = [['PLAIN', {}]];
  test.each([...mechanisms, ...SCRAM_KINDS.map((kind) => [kind, scram(kind)] as const)])(
    'TLS with a CA file and %s',
    async (_, changes) => {
      const publish = (settings: Settings) =>
        commandLine(settings, ['events', 'publish', '--json'], paymentEvents(1, 3));
      expect(await against(changes, publish)).toMatchObject({ code: 0, stdout: '{"published":3}\n' });
    },
  );

  test.each([
    ['a wrong password', { KAFKA_SASL_PASSWORD: 'planted-secret' }, /KAFKA_SASL_PASSWORD/],
    ['an unknown user', { KAFKA_SASL_USERNAME: 'nobody' }, /KAFKA_SASL_USERNAME/],
    ['a CA that did not sign it', { KAFKA_CA_FILE: new URL(import.meta.url).pathname }, /KAFKA_CA_FILE/],
    ['a CA file that is not there', { KAFKA_CA_FILE: 'nowhere.pem' }, /KAFKA_CA_FILE/],
  ])('%s ends the start with one line that names the setting', async (_, changes, says) => {
    const ports = { PORT: '0', ADMIN_PORT: '0', LOG_LEVEL: 'silent' };
    const { code, stdout, stderr } = await against({ ...changes, ...ports }, (settings) =>
      commandLine(settings, ['serve']),
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(says);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).not.toContain('planted-secret');
  });
});
