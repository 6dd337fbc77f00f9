/** A cgroup (version 2) with a memory limit, for a service under test. Most containers do not allow one. */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '../../test/support/clients/service.js';

const ROOT = '/sys/fs/cgroup';
const MIB = 1_024 ** 2;

type Cgroup =
  | {
      readonly kind: 'available';
      /** Make the service join it. */
      readonly settings: Settings;
      remove(): void;
    }
  | { readonly kind: 'unavailable'; readonly why: string };

export function memoryCgroup(limitMiB: number): Cgroup {
  if (!existsSync(join(ROOT, 'cgroup.controllers'))) return unavailable(`${ROOT} is not a cgroup of version 2`);
  const path = join(ROOT, `account-webhooks-bench-${process.pid}`);
  const remove = () => rmdirSync(path);
  try {
    mkdirSync(path);
  } catch (error) {
    return unavailable(`${ROOT} is not writable: ${(error as Error).message}`);
  }
  try {
    writeFileSync(join(path, 'memory.max'), String(limitMiB * MIB));
  } catch (error) {
    remove();
    return unavailable(`${ROOT} has no memory controller: ${(error as Error).message}`);
  }
  const swap = join(path, 'memory.swap.max');
  if (existsSync(swap)) writeFileSync(swap, '0');
  const joiner = new URL('./cgroup-joiner.js', import.meta.url).href;
  const settings = { NODE_OPTIONS: `--import ${joiner}`, BENCH_CGROUP_PROCS: join(path, 'cgroup.procs') };
  return { kind: 'available', settings, remove };
}

function unavailable(why: string): Cgroup {
  return { kind: 'unavailable', why };
}
