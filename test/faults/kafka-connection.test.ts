/** A Kafka behind TLS that demands a client certificate, one without TLS, and one whose advertised name does not resolve. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../services/free-port.js';
import { startKafka } from '../services/kafka/kafka-server.js';
import { certificateFor, testAuthority } from '../support/certificates.js';
import { readExamined } from '../support/examined.js';
import { kafkaInstallation } from '../support/kafka-installation.js';
import { withOwnKafka } from '../support/own-kafka.js';
import { run, type Settings } from '../support/service.js';
import { paymentEvents } from '../support/story.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

withOwnKafka(() => {
  const folder = temporaryDirectory();
  const cleanups: (() => unknown)[] = [() => folder.remove()];
  const brokers = { secured: '', plain: '', unnamed: '' };
  let trusting: Settings;
  let shown: Settings;

  beforeAll(async () => {
    const file = (name: string, text: string) => {
      const path = join(folder.path, name);
      writeFileSync(path, text);
      return path;
    };
    const { key, cert } = await certificateFor(['127.0.0.1', 'localhost']);
    trusting = { KAFKA_CA_FILE: file('ca.pem', (await testAuthority()).cert) };
    shown = { KAFKA_CLIENT_CERT_FILE: file('cert.pem', cert), KAFKA_CLIENT_KEY_FILE: file('key.pem', key) };
    const keystore = file('server.pem', `${key}${cert}`);
    const start = async (properties: Record<string, string>, port?: number) => {
      const kafka = await startKafka({ properties, ...(port && { port }) });
      cleanups.push(() => kafka.stop());
      return kafka.brokers;
    };
    const port = await freePort();
    brokers.secured = await start(demanding(keystore, String(trusting.KAFKA_CA_FILE)));
    brokers.plain = await start({});
    brokers.unnamed = await start({ 'advertised.listeners': `CLIENTS://nowhere.invalid:${port}` }, port);
  });
  afterAll(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup();
  });

  async function against(at: string, changes: Settings, args: readonly string[], stdin = '') {
    const { settings, remove } = await kafkaInstallation(at, [], changes);
    try {
      return await run(settings, args, stdin);
    } finally {
      await remove();
    }
  }
  const publish = ['events', 'publish', '--json'];

  /** On a starved machine a handshake may take longer than doctor waits: then it is asked again. */
  async function examinedOf(at: string, changes: Settings) {
    for (let tries = 1; ; tries += 1) {
      const examined = readExamined(await against(at, changes, ['doctor', '--json']));
      const isLate = examined.of('broker').some((finding) => finding.includes('did not answer in time'));
      if (!isLate || tries === 3) return examined;
    }
  }

  test('a client certificate that is demanded and set', async () => {
    const published = await against(brokers.secured, { ...trusting, ...shown }, publish, paymentEvents(1, 3));
    expect(published).toEqual({ code: 0, stdout: '{"published":3}\n', stderr: '' });
  });

  test('doctor checks its validity', async () => {
    const { of } = readExamined(await against(brokers.secured, { ...trusting, ...shown }, ['doctor', '--json']));
    expect(of('KAFKA_CLIENT_CERT_FILE')).toEqual([expect.stringMatching(/^(ok|warn) /)]);
  });

  test.each([
    ['without a client certificate', 'secured', () => trusting, /client certificate.*KAFKA_CLIENT_CERT_FILE/],
    ['without TLS', 'secured', () => ({}), /set KAFKA_TLS=true/],
    ['by TLS, which it does not speak', 'plain', () => trusting, /unset KAFKA_TLS, KAFKA_CA_FILE/],
    [
      'by a name that does not resolve',
      'unnamed',
      () => ({}),
      /the name nowhere\.invalid of Kafka .*advertised\.listeners/,
    ],
  ] as const)('connecting %s: a command and doctor name the cause', async (_, which, settings, says) => {
    const [command, { of, said }] = await Promise.all([
      against(brokers[which], settings(), publish, paymentEvents(1, 1)),
      examinedOf(brokers[which], settings()),
    ]);
    expect(command).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(says) });
    expect(of('broker')).toEqual([expect.stringMatching(says)]);
    expect(said).not.toContain('grant READ');
  });
});

function demanding(keystore: string, caFile: string): Record<string, string> {
  const listener = 'listener.name.clients.ssl';
  return {
    'listener.security.protocol.map': 'CLIENTS:SSL,CONTROLLER:PLAINTEXT',
    [`${listener}.client.auth`]: 'required',
    [`${listener}.keystore.type`]: 'PEM',
    [`${listener}.keystore.location`]: keystore,
    [`${listener}.truststore.type`]: 'PEM',
    [`${listener}.truststore.location`]: caFile,
  };
}
