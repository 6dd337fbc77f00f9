/** One Apache Kafka (KRaft, one node, on loopback) as a child process, for tests: real, small, up in about two seconds. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../free-port.js';
import { archiveClasses, javaFlags } from './java.js';

const READY_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 50;
const MOST_TRIES = 3;
const JVM = ['-Xmx256m', '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn'];

/**
 * Ends the JVM with whoever started it: a JVM outlives a parent that was killed, but the parent's end of the pipe does
 * not. It prints the JVM's process id and ends as the JVM does.
 */
const KEEPER = `exec 3<&0; "$@" 3<&- >&2 & jvm=$!; echo $jvm
(read -r _ <&3; kill $jvm 2>/dev/null) >/dev/null & reader=$!
wait $jvm; code=$?; kill $reader 2>/dev/null; exit $code`;

/**
 * @typedef {object} KafkaServer
 * @property {string} brokers host:port
 * @property {number} port
 * @property {Record<string, string>} at host:port of each further listener
 * @property {string} folder its data; give it, and the port, to startKafka to start the same broker again
 * @property {(signal: NodeJS.Signals) => void} signal sends the broker a signal: SIGKILL, SIGSTOP, SIGCONT
 * @property {Promise<unknown>} exited
 * @property {() => Promise<void>} stop in order; removes the folder where startKafka made it
 */

/** @typedef {{ protocol: string, advertised?: string }} Listener advertised: host:port, by default its own */

/**
 * @typedef {object} KafkaOptions
 * @property {number} [port]
 * @property {string} [folder]
 * @property {Record<string, Listener>} [listeners] besides that for plain text
 * @property {Record<string, string>} [properties] on top of those below
 * @property {string[]} [flags] of Java, on top
 * @property {(line: string) => void} [tell] progress
 */

/** Once for all that start later. @param {KafkaOptions} options */
export async function prepareKafka(options) {
  await archiveClasses(async (flags) => {
    const kafka = await startKafka({ ...options, flags });
    await kafka.stop();
  });
}

/** @param {KafkaOptions} [options] @returns {Promise<KafkaServer>} */
export async function startKafka(options = {}) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await startOnce(options);
    } catch (error) {
      // A free port may be taken by somebody else before Kafka, which can't choose one itself, gets to it.
      if (tries === MOST_TRIES || !/in use|BindException/.test(error.message)) throw error;
    }
  }
}

async function startOnce(options) {
  const { folder = mkdtempSync(join(tmpdir(), 'kafka-')), properties = {}, tell = () => {} } = options;
  const port = options.port ?? (await freePort());
  const listeners = { CLIENTS: { protocol: 'PLAINTEXT' }, ...options.listeners };
  const at = { CLIENTS: `127.0.0.1:${port}` };
  for (const name of Object.keys(options.listeners ?? {})) at[name] = `127.0.0.1:${await freePort()}`;
  const all = { ...serverProperties(folder), ...listening(listeners, at, await freePort()), ...properties };
  const file = prepare(folder, all);
  const java = ['java', ...JVM, ...(options.flags ?? []), ...javaFlags(tell), 'kafka.Kafka', file];
  const keeper = spawn('sh', ['-c', KEEPER, 'sh', ...java], { stdio: ['pipe', 'pipe', 'pipe'] });
  const exited = once(keeper, 'exit');
  let log = '';
  keeper.stderr.setEncoding('utf8').on('data', (chunk) => {
    log = (log + chunk).slice(-20_000);
  });
  const [pid] = await Promise.race([once(keeper.stdout.setEncoding('utf8'), 'data'), exited]);
  const stop = async () => {
    keeper.stdin.destroy();
    await exited;
    if (!options.folder) rmSync(folder, { recursive: true, force: true });
  };
  try {
    await ready(port, keeper);
  } catch (error) {
    await stop();
    throw new Error(`Kafka did not start: ${error.message}\n${log}`);
  }
  const signal = (name) => {
    process.kill(Number(pid), name);
    if (name === 'SIGSTOP') untilStopped(Number(pid));
  };
  return { brokers: at.CLIENTS, port, at, folder, signal, exited, stop };
}

/** Writes the server's properties, and the storage's mark, which is all that formatting it would do. */
function prepare(folder, properties) {
  const logs = join(folder, 'logs');
  const mark = join(logs, 'meta.properties');
  mkdirSync(logs, { recursive: true });
  const clusterId = randomBytes(16).toString('base64url').replace(/^-/, 'A');
  if (!existsSync(mark)) writeFileSync(mark, lines({ version: '1', 'cluster.id': clusterId, 'node.id': '1' }));
  const file = join(folder, 'server.properties');
  writeFileSync(file, lines(properties));
  return file;
}

function listening(listeners, at, controllerPort) {
  const of = Object.entries(listeners);
  return {
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: [...of.map(([name]) => `${name}://${at[name]}`), `CONTROLLER://127.0.0.1:${controllerPort}`].join(),
    'advertised.listeners': of.map(([name, { advertised = at[name] }]) => `${name}://${advertised}`).join(),
    'inter.broker.listener.name': 'CLIENTS',
    'listener.security.protocol.map': [
      ...of.map(([name, it]) => `${name}:${it.protocol}`),
      'CONTROLLER:PLAINTEXT',
    ].join(),
  };
}

function serverProperties(folder) {
  return {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'log.dirs': join(folder, 'logs'),
    'num.partitions': '1',
    'auto.create.topics.enable': 'false',
    'offsets.topic.replication.factor': '1',
    'offsets.topic.num.partitions': '1',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'transaction.state.log.num.partitions': '1',
    'group.initial.rebalance.delay.ms': '0',
    // The default of 128 MB is all of a small heap.
    'log.cleaner.dedupe.buffer.size': '2097152',
    // Back within three seconds after kill -9, not twelve.
    'broker.session.timeout.ms': '1000',
    'broker.heartbeat.interval.ms': '200',
    'group.min.session.timeout.ms': '500',
  };
}

function lines(properties) {
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${value.replaceAll('\n', '\\n')}\n`)
    .join('');
}

async function ready(port, keeper) {
  const until = performance.now() + READY_WITHIN_MS;
  while (performance.now() < until) {
    if (keeper.exitCode !== null) throw new Error(`it ended with code ${keeper.exitCode}`);
    if (await accepts(port)) return;
    await pause(LOOK_EVERY_MS);
  }
  throw new Error(`nothing listened within ${READY_WITHIN_MS / 1_000} s`);
}

/** @returns {Promise<boolean>} */
function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });
}

/** SIGSTOP reaches a thread after the other: one that still ran gave an answer. Waits a second at most, and on Linux only. */
function untilStopped(pid) {
  const until = performance.now() + 1_000;
  while (performance.now() < until && threadStates(pid).some((state) => state !== 'T'));
}

function threadStates(pid) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`).map((id) => readFileSync(`/proc/${pid}/task/${id}/stat`, 'utf8'));
    return threads.map((stat) => stat.slice(stat.lastIndexOf(')') + 2)[0]);
  } catch {
    return [];
  }
}
