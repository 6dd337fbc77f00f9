/**
 * The other processes of a benchmark: parent and child ask and answer by messages. A child ends with its parent.
 *
 *   const receivers = await Child.start<typeof handlers>('receivers', { ... });
 *   await receivers.ask('sample');
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { testAuthority } from '../../test/support/servers/certificates.js';

export type Handlers = Readonly<Record<string, (given: never) => unknown>>;

interface Asked {
  readonly number: number;
  readonly name: string;
  readonly given: unknown;
}

type Answered =
  | { readonly number: number; readonly value: unknown }
  | { readonly number: number; readonly failed: string };

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class Child<H extends Handlers> {
  readonly #process: ChildProcess;
  readonly #name: string;
  readonly #waiting = new Map<number, Waiting>();
  #asked = 0;

  private constructor(name: string, env: NodeJS.ProcessEnv) {
    this.#name = name;
    const file = new URL(`../processes/${name}.ts`, import.meta.url);
    this.#process = fork(file, { serialization: 'advanced', env });
    this.#process.on('message', (message) => this.#answered(message as Answered));
    this.#process.on('exit', (code) => this.#ended(code));
  }

  /** @param name of a file in processes/ */
  static async start<H extends Handlers>(name: string): Promise<Child<H>> {
    // What the service trusts: with authorities of their own, hostile receivers all fail in the handshake.
    const certificates = JSON.stringify({ authority: await testAuthority(), issued: {} });
    const child = new Child<H>(name, { ...process.env, TEST_CERTIFICATES: certificates });
    // Its modules are loaded when it says so.
    await Promise.race([once(child.#process, 'message'), once(child.#process, 'exit')]);
    return child;
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  ask<N extends keyof H & string>(name: N, given?: Parameters<H[N]>[0]): Promise<Awaited<ReturnType<H[N]>>> {
    this.#asked += 1;
    const number = this.#asked;
    return new Promise((resolve, reject) => {
      if (!this.#process.connected) return reject(new Error(`${this.#name} has ended`));
      this.#waiting.set(number, { resolve: resolve as Waiting['resolve'], reject });
      this.#process.send({ number, name, given } satisfies Asked);
    });
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, 'exit');
    this.#process.disconnect();
    await exited;
  }

  #answered(answer: Answered): void {
    const waiting = this.#waiting.get(answer.number);
    this.#waiting.delete(answer.number);
    if ('failed' in answer) waiting?.reject(new Error(`${this.#name}: ${answer.failed}`));
    else waiting?.resolve(answer.value);
  }

  #ended(code: number | null): void {
    for (const { reject } of this.#waiting.values()) reject(new Error(`${this.#name} ended with ${code}`));
    this.#waiting.clear();
  }
}

/** The child's side: answers what it is asked until the parent goes. */
export function answerParent(handlers: Handlers): void {
  process.on('message', async ({ number, name, given }: Asked) => {
    try {
      const value = await handlers[name]?.(given as never);
      process.send?.({ number, value });
    } catch (error) {
      process.send?.({ number, failed: String((error as Error).stack) });
    }
  });
  process.once('disconnect', () => process.exit(0));
  process.send?.({ number: 0, value: 'ready' });
}
