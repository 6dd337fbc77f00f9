/** Another process on a data folder: its output lines, and kill -9. It runs the sources. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { eventually } from './eventually.js';

const SCRIPT = fileURLToPath(new URL('sqlite-child-process.js', import.meta.url));
const TYPESCRIPT = new URL('../../scripts/typescript/register.js', import.meta.url).href;

export type Role = 'lockFolder' | 'publish' | 'write' | 'commitStates' | 'holdWriteLock' | 'holdNewFile';

export class SqliteChild {
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
