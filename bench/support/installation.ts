/** An installation on this machine: settings as users would give them, receivers it trusts, and a Kafka where it is asked for. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { missingTools } from '../../test/services/kafka/kafka-jars.js';
import { startKafka } from '../../test/services/kafka/kafka-server.js';
import { type Service, type Settings, serve } from '../../test/support/clients/service.js';
import { certificateFor, testAuthority } from '../../test/support/servers/certificates.js';
import type { handlers as receiverHandlers } from '../processes/receivers.js';
import { Child } from './child.js';
import { newFolder } from './folders.js';
import type { Outcome, Row, Tell } from './row.js';
import { PROFILE } from './sizes.js';

export type Receivers = Child<typeof receiverHandlers>;

export interface Installation {
  readonly settings: Settings;
  readonly receivers: Receivers;
  /** https://localhost:port, of the receivers. */
  readonly origins: readonly string[];
  /** PEM; what the receivers' certificate is of. */
  readonly ca: string;
  close(): Promise<void>;
}

export interface InstallationOptions {
  readonly kafka?: boolean;
  readonly settings?: Settings;
  /** On free ports. Default: 3. */
  readonly receivers?: number;
}

const ORIGINS = 3;

type OnBroker = (on: { readonly kafka: boolean }, tell: Tell) => Promise<Outcome>;

/** A row with the embedded broker, and the same through a Kafka of its own, where one can be had, of which `differs` tells. */
export function onEither(
  row: Omit<Row, 'run'>,
  run: OnBroker,
  differs: Partial<Omit<Row, 'run'>> = {},
): readonly Row[] {
  const throughKafka: Row['run'] = async (tell) => {
    const missing = missingTools();
    if (missing.length > 0) return { kind: 'not measured', why: `${missing.join(' and ')} missing` };
    return run({ kafka: true }, tell);
  };
  const kafka = { ...row, name: `${row.name}-kafka`, title: 'The same through Kafka', ...differs };
  return [
    { ...row, run: (tell) => run({ kafka: false }, tell) },
    { ...kafka, run: throughKafka },
  ];
}

export async function openInstallation(options: InstallationOptions = {}): Promise<Installation> {
  const folder = newFolder();
  const caFile = join(folder, 'ca.pem');
  const { cert: ca } = await testAuthority();
  writeFileSync(caFile, ca);
  const receivers: Receivers = await Child.start('receivers');
  const listening = Array(options.receivers ?? ORIGINS).fill(0);
  const ports = await receivers.ask('listen', { ports: listening, ...(await certificateFor(['localhost'])) });
  const kafka = options.kafka ? await startKafka({ folder: join(folder, 'kafka') }) : null;
  const settings = {
    DATA_DIR: join(folder, 'data'),
    ALLOW_PRIVATE_ENDPOINTS: 'true',
    ALLOWED_PORTS: ['443', ...ports].join(),
    DELIVERY_CA_FILE: caFile,
    ...(kafka && { BROKER_URL: `kafka://${kafka.brokers}`, MASTER_KEY: randomBytes(32).toString('base64') }),
    ...options.settings,
  };
  const close = async () => {
    await receivers.stop();
    await kafka?.stop();
  };
  return { settings, receivers, origins: ports.map((port) => `https://localhost:${port}`), ca, close };
}

/** The built program; it leaves a CPU profile where BENCH_PROFILE says so. It ends with this process at the latest. */
export async function startService(settings: Settings): Promise<Service> {
  const service = await serve({ ...settings, ...profiling(settings.NODE_OPTIONS) });
  endsWithUs(service);
  return service;
}

export function endsWithUs({ pid, exited }: Pick<Service, 'pid' | 'exited'>): void {
  const end = () => process.kill(pid, 'SIGKILL');
  process.once('exit', end);
  exited.then(() => process.off('exit', end));
}

/** @param options NODE_OPTIONS of the service, to which the profile is added */
export function profiling(options = ''): Settings {
  if (!PROFILE) return {};
  const profile = new URL('./profile.js', import.meta.url);
  return {
    NODE_OPTIONS: `${options} --import ${profile.href}`.trim(),
    BENCH_PROFILE_FOLDER: resolve('.make/profiles'),
    BENCH_PROFILE: PROFILE,
  };
}
