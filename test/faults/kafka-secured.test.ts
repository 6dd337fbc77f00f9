import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { commandLine } from '../support/in-process-cli.js';
import { kafkaInstallation } from '../support/kafka-installation.js';
import { withOwnKafka } from '../support/own-kafka.js';
import { SCRAM_KINDS, type SecuredKafka, startSecuredKafka } from '../support/secured-kafka.js';
import type { Settings } from '../support/service.js';
import { paymentEvents } from '../support/story.js';

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
