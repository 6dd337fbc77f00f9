/** Rules across settings. Each value is valid by itself. */
import type { Problem } from './invalid-config.js';
import type { Key, Values } from './table.js';

interface Rule extends Problem {
  readonly key: Key;
  readonly isBroken: (values: Values) => boolean;
}

const must = (key: Key, says: string, isBroken: Rule['isBroken']): Rule => ({ key, says: `must ${says}`, isBroken });
const hasKafka = ({ BROKER_URL }: Values) => BROKER_URL !== null;

type FileKey = Extract<Key, `${string}_FILE`>;
const bothOrNone = (one: FileKey, other: FileKey): Rule[] =>
  [[one, other] as const, [other, one] as const].map(([key, given]) =>
    must(key, `be set where ${given} is`, (values) => values[given] !== null && values[key] === null),
  );

const RULES: readonly Rule[] = [
  // The embedded default generates its own key; with shared servers, a key per machine would be useless.
  must(
    'MASTER_KEY',
    'be set where EVENT_STORE_URL or BROKER_URL is',
    (values) => values.MASTER_KEY === null && (values.EVENT_STORE_URL !== null || hasKafka(values)),
  ),
  must(
    'KAFKA_SASL_MECHANISM',
    'be set where KAFKA_SASL_USERNAME or KAFKA_SASL_PASSWORD is',
    (values) =>
      hasKafka(values) &&
      values.KAFKA_SASL_MECHANISM === null &&
      (values.KAFKA_SASL_USERNAME !== null || values.KAFKA_SASL_PASSWORD !== null),
  ),
  must(
    'KAFKA_SASL_USERNAME',
    'be set where KAFKA_SASL_MECHANISM is',
    (values) => hasKafka(values) && values.KAFKA_SASL_MECHANISM !== null && values.KAFKA_SASL_USERNAME === null,
  ),
  must(
    'KAFKA_SASL_PASSWORD',
    'be set where KAFKA_SASL_MECHANISM is',
    (values) => hasKafka(values) && values.KAFKA_SASL_MECHANISM !== null && values.KAFKA_SASL_PASSWORD === null,
  ),
  must(
    'PAYMENT_TOPICS',
    "not begin with TOPIC_PREFIX and `webhooks.`: those topics are the service's own",
    ({ PAYMENT_TOPICS, TOPIC_PREFIX }) => PAYMENT_TOPICS.some((topic) => topic.startsWith(`${TOPIC_PREFIX}webhooks.`)),
  ),
  must('ADMIN_PORT', 'differ from PORT', ({ PORT, ADMIN_PORT }) => PORT !== 0 && PORT === ADMIN_PORT),
  must('KAFKA_RETENTION', 'be more than 0', (values) => hasKafka(values) && values.KAFKA_RETENTION === 0),
  ...bothOrNone('DELIVERY_CLIENT_CERT_FILE', 'DELIVERY_CLIENT_KEY_FILE'),
  ...bothOrNone('KAFKA_CLIENT_CERT_FILE', 'KAFKA_CLIENT_KEY_FILE'),
];

export function brokenRules(values: Values): readonly Problem[] {
  return RULES.filter(({ isBroken }) => isBroken(values));
}
