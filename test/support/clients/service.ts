/** The built command, run like users run it: child processes, real sockets, a folder of their own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { eventually } from '../clocks/eventually.js';

/** TESTED_MAIN: the build of another checkout. */
export const MAIN = process.env.TESTED_MAIN ?? fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

export type Settings = Readonly<Record<string, string>>;

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command to its end. */
export async function run(
  settings: Settings,
  args: readonly string[],
  stdin = '',
  spawning: Spawning = {},
): Promise<Finished> {
  const child = start(settings, args, spawning);
  child.stdin?.on('error', () => undefined); // a command that refuses its arguments reads nothing
  child.stdin?.end(stdin);
  const [stdout, stderr, code] = await Promise.all([output(child.stdout), output(child.stderr), exitOf(child)]);
  return { code, stdout, stderr };
}

export interface Service {
  readonly pid: number;
  readonly url: string;
  readonly adminUrl: string;
  /** Its stderr so far. */
  readonly log: () => string;
  /** Its stdout so far. */
  readonly output: () => string;
  /** The exit code; null after kill -9. */
  stop(signal: NodeJS.Signals): Promise<number | null>;
  /** The exit code, if it ends by itself. */
  readonly exited: Promise<number | null>;
}

/** A `serve` that need not become ready. */
export interface Starting extends Pick<Service, 'pid' | 'adminUrl' | 'log' | 'output' | 'stop' | 'exited'> {
  readonly ready: Promise<Service>;
}

/** `serve`; fulfilled at its ready line. */
export async function serve(settings: Settings, args: readonly string[] = []): Promise<Service> {
  return (await startServing(settings, args)).ready;
}

/** `serve`; fulfilled when its admin port answers. */
export async function startServing(
  settings: Settings,
  args: readonly string[] = [],
  readyWithinMs = 30_000,
): Promise<Starting> {
  const child = start({ PORT: '0', ADMIN_PORT: '0', ...settings }, ['serve', ...args]);
  child.stdin?.end();
  let said = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
  });
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    log += chunk;
  });
  const exited = exitOf(child);
  const logged = async (msg: string): Promise<Ports> => {
    const line = () => {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`serve ended: ${log}`);
      return log.split('\n').find((entry) => entry.includes(`"msg":"${msg}"`));
    };
    return JSON.parse(
      await eventually(line, { timeout: readyWithinMs, message: `serve did not say: ${msg}` }),
    ) as Ports;
  };
  const { adminPort } = await logged('starting');
  const common = {
    pid: child.pid ?? 0,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    log: () => log,
    output: () => said,
    exited,
    stop: (signal: NodeJS.Signals) => {
      child.kill(signal);
      return exited;
    },
  };
  const ready = logged('ready').then(({ apiPort }) => ({ ...common, url: `http://127.0.0.1:${apiPort}` }));
  // Of no interest to a test that ends before.
  ready.catch(() => undefined);
  return { ...common, ready };
}

interface Ports {
  readonly adminPort: number;
  readonly apiPort: number;
}

let others = 0;

/** For another process of the same installation: a DATA_DIR of its own, removed with that of the first. */
export function elsewhere(settings: Settings): Settings {
  others += 1;
  return { ...settings, DATA_DIR: `${settings.DATA_DIR}/other-${others}` };
}

/** Its stdout and stderr: a pipe, or a file descriptor. */
interface Spawning {
  readonly stdout?: number;
  readonly stderr?: number;
}

/** Starts one command. */
export function start(settings: Settings, args: readonly string[], spawning: Spawning = {}): ChildProcess {
  const env = { PATH: process.env.PATH ?? '', HTTPS_PROXY: 'http://127.0.0.1:1', ...settings };
  const { stdout = 'pipe', stderr = 'pipe' } = spawning;
  return spawn(process.execPath, [MAIN, ...args], { env, stdio: ['pipe', stdout, stderr] });
}

export async function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}

function output(stream: NodeJS.ReadableStream | null): Promise<string> {
  return stream ? text(stream) : Promise.resolve('');
}

export interface Readiness {
  readonly httpStatus: number;
  readonly status: string;
  readonly waitingFor?: readonly string[];
  readonly parts: readonly { readonly part: string; readonly ready: boolean; readonly why?: string }[];
}

export async function readiness({ adminUrl }: Pick<Service, 'adminUrl'>): Promise<Readiness> {
  const response = await fetch(`${adminUrl}/health/ready`);
  return { httpStatus: response.status, ...((await response.json()) as Omit<Readiness, 'httpStatus'>) };
}

/** Log entries are JSON: any other line is a crash or a warning of Node. */
export function strayLines(log: string): string[] {
  return log.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
}

/** What a command printed with --json. */
export function jsonLines<T = Record<string, unknown>>(stdout: string): T[] {
  return stdout.split('\n').flatMap((line) => (line ? [JSON.parse(line) as T] : []));
}
