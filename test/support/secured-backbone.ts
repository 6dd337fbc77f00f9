/** EventStoreDB's test server over TLS and a separate Kafka, both behind planted passwords. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EventStoreServer, startEventStore } from '../services/eventstoredb/event-store-server.js';
import { missingTools } from '../services/kafka/kafka-jars.js';
import { startKafka } from '../services/kafka/kafka-server.js';
import type { Backbone } from './backbones.js';
import { certificateFor, testAuthority } from './certificates.js';
import type { Said } from './planted-installation.js';
import type { PlantedSecrets } from './planted-secrets.js';
import { temporaryDirectory } from './temporary-directory.js';

const USER = 'webhooks';

export interface SecuredBackbone extends Backbone {
  /** Set once it is open. */
  readonly eventStore: EventStoreServer | undefined;
  /** The content of the event store's server: events, their metadata, states of projections. */
  stored(): Said[];
}

export function securedBackbone(secrets: PlantedSecrets): SecuredBackbone {
  let eventStore: EventStoreServer | undefined;
  const open = async () => {
    const folder = temporaryDirectory();
    const ca = join(folder.path, 'ca.pem');
    writeFileSync(ca, (await testAuthority()).cert);
    const storePassword = secrets.plant('the password of EVENT_STORE_URL');
    const brokerPassword = secrets.plant('KAFKA_SASL_PASSWORD');
    const kafka = await startKafka({ properties: withPassword(brokerPassword) });
    const tls = await certificateFor();
    eventStore = await startEventStore({ tls, credentials: { username: USER, password: storePassword } });
    const { url, stop } = eventStore;
    return {
      settings: {
        EVENT_STORE_URL: `${url.replace('esdb://', `esdb://${USER}:${storePassword}@`)}&tlsCAFile=${ca}`,
        BROKER_URL: `kafka://${kafka.brokers}`,
        KAFKA_PARTITIONS: '1',
        KAFKA_SASL_MECHANISM: 'PLAIN',
        KAFKA_SASL_USERNAME: USER,
        KAFKA_SASL_PASSWORD: brokerPassword,
      },
      close: async () => {
        await Promise.all([kafka.stop(), stop()]);
        folder.remove();
      },
    };
  };
  return {
    name: 'EventStoreDB and Kafka, with passwords',
    open: missingTools().length === 0 ? open : null,
    needsTestServer: true,
    get eventStore() {
      return eventStore;
    },
    stored: () => (eventStore ? storedIn(eventStore) : []),
  };
}

function storedIn({ data: { log, projections } }: EventStoreServer): Said[] {
  const events = log.map(({ stream, type, data, metadata }) => ({
    where: `${type} in ${stream}`,
    text: Buffer.concat([Buffer.from(`${stream} `), data, metadata]),
  }));
  const states = [...projections].flatMap(([name, { states }]) =>
    [...states].map(([stream, text]) => ({ where: `${name} of ${stream}`, text })),
  );
  return [...events, ...states];
}

function withPassword(password: string): Record<string, string> {
  const module = 'org.apache.kafka.common.security.plain.PlainLoginModule required';
  return {
    'listener.security.protocol.map': 'CLIENTS:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT',
    'sasl.enabled.mechanisms': 'PLAIN',
    'sasl.mechanism.inter.broker.protocol': 'PLAIN',
    'listener.name.clients.plain.sasl.jaas.config': `${module} username="adm" password="adm-pw" user_adm="adm-pw" user_${USER}="${password}";`,
  };
}
