/** A folder with the SQLite adapters of one process, and child processes beside it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { SqliteBroker } from '../../../src/adapters/sqlite/broker.js';
import { SqliteEventStore } from '../../../src/adapters/sqlite/event-store.js';
import { StoreFile } from '../../../src/adapters/sqlite/store-file.js';
import { eventually } from '../clocks/eventually.js';
import { temporaryDirectory } from '../scenes/temporary-directory.js';

export class SqliteFolder {
  readonly #directory = temporaryDirectory();
  readonly dataDir = `${this.#directory.path}/data`;
  readonly #cleanups: (() => unknown)[] = [];

  /** Closed with the folder, latest first. */
  onClose(cleanup: () => unknown): void {
    this.#cleanups.push(cleanup);
  }

  open(): { file: StoreFile; store: SqliteEventStore; broker: SqliteBroker } {
    const file = new StoreFile(this.dataDir);
    const opened = { file, store: new SqliteEventStore(file), broker: new SqliteBroker(file) };
    this.onClose(async () => {
      await Promise.all([opened.store.close(), opened.broker.close()]);
      file.close();
    });
    return opened;
  }

  child(role: Role): SqliteChild {
    const child = new SqliteChild(role, this.dataDir);
    this.onClose(() => child.kill());
    return child;
  }

  async close(): Promise<void> {
    for (const cleanup of this.#cleanups.splice(0).reverse()) await cleanup();
    this.#directory.remove();
  }
}

const SCRIPT = fileURLToPath(new URL('sqlite-child-process.js', import.meta.url));
const TYPESCRIPT = new URL('../../../scripts/typescript/register.js', import.meta.url).href;

type Role = 'lockFolder' | 'publish' | 'write' | 'commitStates' | 'holdWriteLock';

class SqliteChild {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  #output = '';

  constructor(role: Role, dataDir: string) {
    this.#child = spawn(process.execPath, ['--import', TYPESCRIPT, SCRIPT, role, dataDir], { stdio: 'pipe' });
    this.#exited = once(this.#child, 'close');
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        this.#output += chunk;
      });
    }
  }

  /** The complete lines. */
  get lines(): string[] {
    return this.#output.split('\n').slice(0, -1);
  }

  send(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  /** Waits until it has printed this many lines. */
  told(count: number): Promise<unknown> {
    return eventually(() => {
      if (this.#child.exitCode !== null) throw new Error(`the child ended: ${this.#output}`);
      return this.lines.length >= count;
    });
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }
}
