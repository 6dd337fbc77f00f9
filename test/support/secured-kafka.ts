/** A Kafka behind TLS and SASL: user adm by PLAIN, and sam by SCRAM, in make test-all by both kinds. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startKafka } from '../services/kafka/kafka-server.js';
import { certificateFor, testAuthority } from './certificates.js';
import { kafkaTool, type OwnKafka } from './own-kafka.js';
import { inFull } from './thorough.js';

const PLAIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="adm" password="adm-pw"';
const SCRAM = 'org.apache.kafka.common.security.scram.ScramLoginModule required;';

/** Each kind takes a start of Kafka's tool: a JVM. */
export const SCRAM_KINDS = inFull(['SCRAM-SHA-256', 'SCRAM-SHA-512'], ['SCRAM-SHA-512']);

export interface SecuredKafka extends OwnKafka {
  readonly caFile: string;
}

export async function startSecuredKafka(): Promise<SecuredKafka> {
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
    await kafkaTool('kafka.admin.ConfigCommand', { args: [...args, `${mechanism}=[password=sam-pw]`] });
  }
}
