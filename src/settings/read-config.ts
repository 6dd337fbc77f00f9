/** The only reader of process.env, the rules across settings, and the forward proxy that is ignored. */
import { type Problem, WrongSettings } from './invalid-config.js';
import { type Key, SETTINGS, type Values } from './table.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The parsed settings by their names; null: unset. */
export interface Config extends Values {
  readonly KAFKA_GROUP: string;
  /** Those that are set, of the ones by which other programs use a forward proxy. */
  readonly proxyVariables: readonly string[];
}

/** An empty value counts as unset. @throws WrongSettings with all errors */
export function readConfig(environment: Environment = process.env): Config {
  const { values, wrong } = readValues(environment);
  // No further errors about a value that is wrong by itself.
  const more = RULES.filter(({ key, isBroken }) => isBroken(values) && !wrong.some((problem) => problem.key === key));
  const problems = [...wrong, ...more];
  if (problems.length > 0) throw new WrongSettings(problems);
  const proxyVariables = Object.keys(environment).filter((name) => PROXIES.test(name) && environment[name]);
  return { ...values, KAFKA_GROUP: values.KAFKA_GROUP ?? `${values.TOPIC_PREFIX}account-webhooks`, proxyVariables };
}

/** Node's own setting: a PEM file of CAs that this process trusts; undefined: none. */
export function nodeExtraCaFile(): string | undefined {
  return process.env.NODE_EXTRA_CA_CERTS || undefined;
}

/** Uses the default in place of a wrong value. */
function readValues(environment: Environment): { values: Values; wrong: readonly Problem[] } {
  const wrong: Problem[] = [];
  const values = SETTINGS.map(({ key, parser, byDefault }) => {
    const value = parser.parse(environment[key] || byDefault);
    if (value !== undefined) return [key, value];
    wrong.push({ key, says: `must be ${parser.expected}` });
    return [key, parser.parse(byDefault)];
  });
  return { values: Object.fromEntries(values) as Values, wrong };
}

interface Rule extends Problem {
  readonly key: Key;
  readonly isBroken: (values: Values) => boolean;
}

const must = (key: Key, says: string, isBroken: Rule['isBroken']): Rule => ({ key, says: `must ${says}`, isBroken });
const hasKafka = ({ BROKER_URL }: Values) => BROKER_URL !== null;

/** `counts`: for which settings the rule holds; by default for all. */
const setWhere = (key: Key, given: readonly Key[], counts = (_: Values) => true): Rule =>
  must(
    key,
    `be set where ${given.join(' or ')} is`,
    (values) => counts(values) && values[key] === null && given.some((one) => values[one] !== null),
  );

/** Across settings: each value is valid by itself. */
const RULES: readonly Rule[] = [
  // The embedded default generates its own key; with shared servers, a key per machine would be useless.
  setWhere('MASTER_KEY', ['EVENT_STORE_URL', 'BROKER_URL']),
  setWhere('KAFKA_SASL_MECHANISM', ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'], hasKafka),
  setWhere('KAFKA_SASL_USERNAME', ['KAFKA_SASL_MECHANISM'], hasKafka),
  setWhere('KAFKA_SASL_PASSWORD', ['KAFKA_SASL_MECHANISM'], hasKafka),
  must(
    'PAYMENT_TOPICS',
    "not begin with TOPIC_PREFIX and `webhooks.`: those topics are the service's own",
    ({ PAYMENT_TOPICS, TOPIC_PREFIX }) => PAYMENT_TOPICS.some((topic) => topic.startsWith(`${TOPIC_PREFIX}webhooks.`)),
  ),
  must('ADMIN_PORT', 'differ from PORT', ({ PORT, ADMIN_PORT }) => PORT !== 0 && PORT === ADMIN_PORT),
  setWhere('DELIVERY_CLIENT_CERT_FILE', ['DELIVERY_CLIENT_KEY_FILE']),
  setWhere('DELIVERY_CLIENT_KEY_FILE', ['DELIVERY_CLIENT_CERT_FILE']),
  setWhere('KAFKA_CLIENT_CERT_FILE', ['KAFKA_CLIENT_KEY_FILE']),
  setWhere('KAFKA_CLIENT_KEY_FILE', ['KAFKA_CLIENT_CERT_FILE']),
];

const PROXIES = /^(https?|all)_proxy$|^NODE_USE_ENV_PROXY$/i;

/** Null if none is set. Deliveries use no forward proxy: the check of a receiver's address would be the proxy's. */
export function ignoredProxy({ proxyVariables: set }: Config): { says: string; todo: string } | null {
  if (set.length === 0) return null;
  return {
    says: `deliveries use no forward proxy: ${set.join(', ')} is ignored`,
    todo: 'allow this machine, in the firewall, to connect to receivers on ALLOWED_PORTS',
  };
}
