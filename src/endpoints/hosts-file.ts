/** The machine's hosts file (hosts(5)) and other files that administrators change while the service runs. */
import type { LookupAddress } from 'node:dns';
import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';

const CHECK_EVERY_MS = 1_000;

/** Detects changes of a file, which may be missing. */
export class ChangingFile {
  readonly path: string;
  readonly #now: () => number;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #seen: string | null = null;

  /** @param now ms of a monotonic clock */
  constructor(path: string, now: () => number) {
    this.path = path;
    this.#now = now;
  }

  /** Whether the file differs from the previous call; true at first. The file is checked once per second. */
  hasChanged(): boolean {
    if (this.#now() - this.#checkedAt < CHECK_EVERY_MS) return false;
    this.#checkedAt = this.#now();
    const previous = this.#seen;
    this.#seen = this.#version();
    return this.#seen !== previous;
  }

  #version(): string {
    try {
      const { ino, size, mtimeMs } = statSync(this.path);
      return `${ino} ${size} ${mtimeMs}`;
    } catch {
      return 'missing';
    }
  }
}

export class HostsFile {
  readonly #file: ChangingFile;
  #addresses: ReadonlyMap<string, readonly LookupAddress[]> = new Map();

  constructor(path: string, now: () => number) {
    this.#file = new ChangingFile(path, now);
  }

  /** @param name in lower case @returns an empty list if the file does not have it */
  find(name: string): readonly LookupAddress[] {
    if (this.#file.hasChanged()) this.#addresses = parseHosts(readIfPresent(this.#file.path));
    return this.#addresses.get(name) ?? [];
  }
}

function readIfPresent(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function parseHosts(text: string): ReadonlyMap<string, readonly LookupAddress[]> {
  const addresses = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = (line.split('#', 1)[0] ?? '').split(/[ \t\r]/).filter((word) => word !== '');
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names) {
      const found = addresses.get(name.toLowerCase()) ?? [];
      found.push({ address, family });
      addresses.set(name.toLowerCase(), found);
    }
  }
  return addresses;
}
