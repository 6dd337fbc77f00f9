/** Data folders of an earlier release, packed in test/fixtures/data-dirs, with their known content. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { Receiver } from './receiver.js';
import type { Settings } from './service.js';

export const DATA_DIRS = fileURLToPath(new URL('../fixtures/data-dirs', import.meta.url));
const PRELOADED = new URL('port-443.js', import.meta.url).href;
const PACKED = '.br';
const MANIFEST = 'manifest.json';

export interface EarlierDelivery {
  readonly id: string;
  readonly eventId: string;
  readonly webhookId: number;
  readonly outcome: string;
  readonly attempts: readonly { readonly at: string; readonly status: number | null }[];
}

export interface EarlierAccount {
  readonly accountId: number;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly signingSecret: string;
  /** As listed by GET /api/webhooks. */
  readonly webhooks: readonly { readonly id: number; readonly url: string }[];
  /** As shown by `deliveries list --json`. */
  readonly deliveries: readonly EarlierDelivery[];
}

export interface Manifest {
  readonly commit: string;
  readonly settings: Settings;
  /** The period of all publications: ISO 8601. */
  readonly from: string;
  readonly to: string;
  readonly accounts: readonly EarlierAccount[];
  /** Payment events as published, by id. */
  readonly events: Readonly<Record<string, string>>;
  /** The URLs active for an event at its publication, by the event's id. */
  readonly due: Readonly<Record<string, readonly string[]>>;
  /** `<event id> <path>` of deliveries that a receiver had answered with 2xx. */
  readonly taken: readonly string[];
  /** `<event id> <path>` of deliveries still unanswered when the release ended. */
  readonly underWay: readonly string[];
  /** Published after consumption had ended. */
  readonly unread: readonly string[];
  /** A request already handled under this key. */
  readonly keyed: { readonly accountId: number; readonly key: string; readonly body: object };
}

/** Lets a service reach the receiver at https://localhost, whatever its port. */
export function atPort443({ port }: Receiver): Settings {
  return { NODE_OPTIONS: `--import=${PRELOADED}`, RECEIVER_PORT: String(port), ALLOW_PRIVATE_ENDPOINTS: 'true' };
}

/** Without the -shm, which SQLite recreates. */
export function pack(dataDir: string, name: string, manifest: Manifest): void {
  const folder = join(DATA_DIRS, name);
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(dataDir).filter((one) => !one.endsWith('-shm'))) {
    const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS };
    writeFileSync(join(folder, file + PACKED), brotliCompressSync(readFileSync(join(dataDir, file)), { params }));
  }
  writeFileSync(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** @param dataDir is created */
export function unpack(name: string, dataDir: string): Manifest {
  const folder = join(DATA_DIRS, name);
  mkdirSync(dataDir, { mode: 0o700 });
  for (const file of readdirSync(folder).filter((one) => one.endsWith(PACKED))) {
    const content = brotliDecompressSync(readFileSync(join(folder, file)));
    writeFileSync(join(dataDir, file.slice(0, -PACKED.length)), content, { mode: 0o600 });
  }
  return JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8')) as Manifest;
}
