/**
 * What the Kafka of all test files has besides its listener for plain text: listeners for users and for client certificates, two
 * whose clients are sent elsewhere, and an authorizer. It lets nobody do anything but those who come by plain text, so that
 * other tests don't meet it, and the super users; what it allows to a user is a test's own, on names of its own.
 */
import { freePort } from '../../services/free-port.js';

const USERS = ['root', 'guest', 'dispatcher', 'api', 'payment-system', 'auditor', 'operator'];
/** Without a user, one by SCRAM, which kafka-secured.test.ts makes, and a certificate for these names. */
const SUPER_USERS = ['ANONYMOUS', 'root', 'sam', 'CN=localhost'];

/** For startKafka, and the address that one of the listeners sends its clients to. */
export async function securedListeners() {
  const { authority, issued } = JSON.parse(process.env.TEST_CERTIFICATES);
  const { cert, key } = issued['localhost,127.0.0.1'];
  const module = (kind, ...options) =>
    `org.apache.kafka.common.security.${kind}LoginModule required${options.join('')};`;
  const users = USERS.map((user) => ` user_${user}="${user}-pw"`);
  const relay = `127.0.0.1:${await freePort()}`;
  return {
    relay,
    listeners: {
      USERS: { protocol: 'SASL_SSL' },
      CERTIFICATES: { protocol: 'SSL' },
      UNRESOLVED: { protocol: 'PLAINTEXT', advertised: 'nowhere.invalid:9092' },
      RELAYED: { protocol: 'PLAINTEXT', advertised: relay },
    },
    properties: {
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'super.users': SUPER_USERS.map((user) => `User:${user}`).join(';'),
      'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-512',
      'listener.name.users.plain.sasl.jaas.config': module('plain.Plain', ...users),
      'listener.name.users.scram-sha-512.sasl.jaas.config': module('scram.Scram'),
      'listener.name.certificates.ssl.client.auth': 'required',
      'ssl.keystore.type': 'PEM',
      'ssl.keystore.certificate.chain': cert,
      'ssl.keystore.key': key,
      'ssl.truststore.type': 'PEM',
      'ssl.truststore.certificates': authority.cert,
    },
  };
}
