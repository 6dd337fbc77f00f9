/**
 * Hooks that kafkajs lacks, in the cluster of a consumer: kafkajs looks up a group's coordinator before each join, and at no
 * other time, and a broker before each fetch. (REBALANCING comes too late, and not before every join.)
 */
import kafkajs, { type Cluster } from 'kafkajs';
import { BrokerRefused } from '../../../ports/broker.js';
import { withinTime } from '../../common/time-limit.js';
import type { FetchedPartition } from '../fetched/fetch-response.js';
import { isCoordinatorMissing, translated } from '../kafka-errors.js';

const ANSWER_WITHIN_MS = 3_000;
/**
 * While records arrive, a fetch waits for this many bytes, or this long: without it each record was a fetch of its own, a quarter
 * of a dispatcher's CPU at 300 payments per second. A record that arrives after a pause does not wait.
 */
const GATHER = { minBytes: 64 * 1024, maxWaitTime: 5 };

export interface Fetched {
  readonly responses: readonly { readonly topicName: string; readonly partitions: readonly FetchedPartition[] }[];
}

export interface GroupHooks {
  /** Awaited before each join; must not reject. */
  joining(): Promise<void>;
  /**
   * Called for each fetch: how long Kafka waits for a record before it answers with none. Short while partitions are paused,
   * so that resumed ones are soon in the next fetch; with all partitions any record ends it.
   */
  waitMs(): number;
  /** Called with each answer: kafkajs passes on only those with records. */
  fetched(answer: Fetched): void;
  /** By another, or closed: then the client joins and fetches no more. */
  isReplaced(): boolean;
}

interface Group {
  readonly groupId: string;
}

interface HookedBroker {
  fetch(request: object): Promise<Fetched>;
  findGroupCoordinator(of: Group): Promise<unknown>;
}

interface HookedCluster {
  findGroupCoordinator(of: Group): Promise<unknown>;
  findBroker(of: { nodeId: string }): Promise<HookedBroker>;
  getNodeIds(): string[];
}

export function hookGroupClient(client: Cluster, hooks: GroupHooks): void {
  const cluster = client as unknown as HookedCluster;
  const lookUp = cluster.findGroupCoordinator.bind(cluster);
  const find = cluster.findBroker.bind(cluster);
  const hooked = new WeakSet<HookedBroker>();
  cluster.findGroupCoordinator = async (of) => {
    mustNotBeReplaced(hooks);
    await hooks.joining();
    return lookUp(of).catch(async (error: unknown) => {
      throw (isCoordinatorMissing(error) && (await refusalOf(cluster, of))) || error;
    });
  };
  cluster.findBroker = async (of) => {
    mustNotBeReplaced(hooks);
    const broker = await find(of);
    if (hooked.has(broker)) return broker;
    hooked.add(broker);
    const fetch = broker.fetch.bind(broker);
    let recordsArrive = false;
    broker.fetch = async (request) => {
      const wait = recordsArrive ? GATHER : { maxWaitTime: hooks.waitMs() };
      const answer = await fetch({ ...request, ...wait });
      hooks.fetched(answer);
      const passed = withRecords(answer);
      recordsArrive = passed.responses.some(({ partitions }) => partitions.length > 0);
      return passed;
    };
    return broker;
  };
}

/** kafkajs passes each partition to its workers, also without records: in an idle service, a tenth of its processor time. */
function withRecords(answer: Fetched): Fetched {
  const responses = answer.responses.map((response) => ({
    ...response,
    partitions: response.partitions.filter(({ messages }) => messages.length > 0),
  }));
  return { ...answer, responses };
}

/** Hazard: a client disconnected while it connects or joins may hold partitions that nobody reads: this is not retried. */
function mustNotBeReplaced(hooks: GroupHooks): void {
  if (hooks.isReplaced()) throw new kafkajs.KafkaJSNonRetriableError('the client was replaced or closed');
}

/** Asks a broker once more, as kafkajs drops the error by which Kafka refuses a look-up; null if it does not refuse. */
async function refusalOf(cluster: HookedCluster, of: Group): Promise<unknown> {
  const [nodeId = ''] = cluster.getNodeIds();
  try {
    const answer = cluster.findBroker({ nodeId }).then((broker) => broker.findGroupCoordinator(of));
    await withinTime(ANSWER_WITHIN_MS, answer);
    return null;
  } catch (error) {
    return translated(error) instanceof BrokerRefused ? error : null;
  }
}
