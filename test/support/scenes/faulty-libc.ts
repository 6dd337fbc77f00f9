/**
 * Faults of the operating system under a real service: faulty-libc.c is compiled, preloaded into the service, and
 * controlled through a file that both have open. If that is impossible, the tests that need it say so loudly.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, readSync, renameSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Settings } from '../clients/service.js';
import { temporaryDirectory } from './temporary-directory.js';

const SOURCE = fileURLToPath(new URL('faulty-libc.c', import.meta.url));
const PAGE_BYTES = 4_096;
/** Offsets in the file. */
const DISK_FULL = 0;
const SYNC_FAILS = 8;
const CLOCK_MS = 16;
const WRITES_REFUSED = 24;
const SYNCS_REFUSED = 32;
const WORD = 48;

/** Runs tests that need the library, or reports loudly that they did not run. */
export function withFaultyLibc(define: () => void): void {
  const compiler = spawnSync('cc', ['--version']);
  if (process.platform === 'linux' && compiler.status === 0) define();
  else
    describe('FAULTS OF THE DISK AND THE CLOCK', () => test.skip('NEED LINUX AND A C COMPILER (cc)', () => undefined));
}

export class FaultyLibc {
  /** The service's settings for the library. */
  readonly settings: Settings;
  readonly #folder = temporaryDirectory();
  readonly #page: number;

  /** @param word disk faults affect files whose path contains it */
  constructor(word: string) {
    const [library, page] = [compiled(this.#folder.path), join(this.#folder.path, 'page')];
    this.settings = { LD_PRELOAD: library, FAULTY_LIBC: page };
    this.#page = openSync(page, 'w+');
    const text = Buffer.alloc(PAGE_BYTES);
    text.write(word, WORD);
    writeSync(this.#page, text, 0, PAGE_BYTES, 0);
  }

  /** One write out of this many finds no room; 0: all find room again. */
  diskFull(oneOf: number): void {
    this.#set(DISK_FULL, oneOf);
  }

  /** One sync out of this many fails; 0: none. */
  syncFails(oneOf: number): void {
    this.#set(SYNC_FAILS, oneOf);
  }

  /** How far the clock is ahead of the real one; timers and monotonic clocks are unaffected. */
  shiftClock(ms: number): void {
    this.#set(CLOCK_MS, ms);
  }

  get writesRefused(): number {
    return this.#get(WRITES_REFUSED);
  }

  get syncsRefused(): number {
    return this.#get(SYNCS_REFUSED);
  }

  close(): void {
    closeSync(this.#page);
    this.#folder.remove();
  }

  #set(place: number, value: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(value));
    writeSync(this.#page, bytes, 0, bytes.length, place);
  }

  #get(place: number): number {
    const bytes = Buffer.alloc(8);
    readSync(this.#page, bytes, 0, bytes.length, place);
    return Number(bytes.readBigInt64LE());
  }
}

/** Compiled once per version of its source; several test files may start this at the same time. */
function compiled(folder: string): string {
  const hash = createHash('sha256').update(readFileSync(SOURCE)).digest('hex').slice(0, 16);
  const library = join(tmpdir(), `faulty-libc-${hash}.so`);
  if (existsSync(library)) return library;
  const made = join(folder, 'faulty-libc.so');
  const options = ['-shared', '-fPIC', '-O1', '-Wall', '-Werror', '-o', made, SOURCE, '-ldl'];
  const { status, stderr } = spawnSync('cc', options, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`faulty-libc.c could not be compiled:\n${stderr}`);
  renameSync(made, library);
  return library;
}
