import { readdirSync, readlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { NativeEnvironment } from './native-environment.js';
import { patience } from './patience.js';
import { watchRunningTest } from './running-test.js';

const POLL_MS = 20;
/** On a quiet machine. */
const PATIENCE_MS = 2_000;

/**
 * A test file fails when it leaves something open: a socket, a server, a timer, a child process or a file. What is open
 * after the file's last hook is compared with what was open before the file was loaded; what is closing already has
 * `leakPatienceMs` (testEnvironmentOptions) to be gone.
 *
 * It is an environment, not an afterAll hook of a setup file, because that hook would run before those of the tests.
 * Unseen: what was unref'd (Node does not count it), and files on systems without /proc. With --runInBand the timers
 * of jest itself are in this process too, and their going can hide what a test left.
 */
export default class LeakGuard extends NativeEnvironment {
  #patienceMs;
  #before = new Map();
  #letGoOfRunningTest = watchRunningTest();

  constructor(config, context) {
    super(config, context);
    this.#patienceMs = config.projectConfig.testEnvironmentOptions.leakPatienceMs;
  }

  async setup() {
    await super.setup();
    // Node opens these on first use, and they stay: not the test's doing.
    void [process.stdin, process.stdout, process.stderr];
    this.#before = countOpen();
  }

  async teardown() {
    await super.teardown();
    this.#letGoOfRunningTest();
  }

  async handleTestEvent(event, state) {
    if (event.name !== 'run_finish') return;
    const left = await this.#leftOpen();
    if (left.length > 0)
      state.unhandledErrors.push(withoutStack(`This test file left open: ${left.join(', ')}${peers()}`));
  }

  async #leftOpen() {
    const until = performance.now() + (this.#patienceMs ?? PATIENCE_MS * patience());
    let left = added(this.#before, countOpen());
    while (left.length > 0 && performance.now() < until) {
      await pause(POLL_MS);
      left = added(this.#before, countOpen());
    }
    return left;
  }
}

/** @returns {Map<string, number>} how many are open by name: TCPServerWrap, Timeout, ProcessWrap ... and file paths */
function countOpen() {
  const counts = new Map();
  for (const name of [...process.getActiveResourcesInfo(), ...openFiles()])
    counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Of the sockets that are open, those of before included: a port tells whose they are. */
function peers() {
  const sockets = process._getActiveHandles().filter((handle) => handle instanceof Socket && handle.localPort);
  const texts = sockets.map(({ localPort, remotePort, connecting }) =>
    connecting ? `${localPort} connecting` : `${localPort} to ${remotePort}`,
  );
  return texts.length > 0 ? `; ports: ${texts.join(', ')}` : '';
}

function openFiles() {
  return fileDescriptors()
    .map(target)
    .filter((path) => path.startsWith('/') && !/^\/(dev|proc)\//.test(path));
}

function fileDescriptors() {
  try {
    return readdirSync('/proc/self/fd');
  } catch {
    return [];
  }
}

function target(fd) {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return ''; // the one that listed the directory is closed by now
  }
}

function added(before, after) {
  return [...after]
    .map(([name, count]) => [name, count - (before.get(name) ?? 0)])
    .filter(([, more]) => more > 0)
    .map(([name, more]) => (more === 1 ? name : `${more} x ${name}`));
}

/** The stack would point here, which helps nobody. */
function withoutStack(message) {
  const error = new Error(message);
  error.stack = message;
  return error;
}
