/**
 * Virtual time for real code: events in a heap, and processes that can be killed (none of their promises ever continues) and
 * frozen (they continue later). Every wait of the code under test is a wait of its process here.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Due, DueHeap } from '../due-heap.js';
import { type Seeded, seeded } from '../seeded.js';

interface Event extends Due {
  readonly happen: () => void;
}

export class Kernel {
  /** ms since the epoch. */
  now = Date.parse('2026-11-27T00:00:00.000Z');
  readonly begunAt = this.now;
  readonly #due = new DueHeap<Event>();
  readonly #random: Seeded;
  readonly trace: string[] = [];
  #number = 0;

  constructor(seed: number) {
    this.#random = seeded(seed);
  }

  /** A whole number, both ends inclusive. */
  between(least: number, most: number): number {
    return least + this.#random.below(most - least + 1);
  }

  chance(part: number): boolean {
    return this.#random.below(1_000_000) < part * 1_000_000;
  }

  pick<T>(all: readonly T[]): T {
    return all[this.#random.below(all.length)] as T;
  }

  at(time: number, happen: () => void): void {
    this.#number += 1;
    this.#due.push({ at: Math.max(time, this.now), number: this.#number, happen });
  }

  after(ms: number, happen: () => void): void {
    this.at(this.now + ms, happen);
  }

  /** After each event the code goes on until it waits for the next one. */
  async runFor(ms: number): Promise<void> {
    const until = this.now + ms;
    for (let next = this.#due.first; next && next.at <= until; next = this.#due.first) {
      this.#due.removeFirst();
      this.now = next.at;
      next.happen();
      await nextTurn();
    }
    this.now = until;
  }

  say(...words: readonly unknown[]): void {
    this.trace.push(`${String(this.now - this.begunAt).padStart(7)} ${words.join(' ')}`);
  }
}

export class Process {
  readonly kernel: Kernel;
  readonly name: string;
  isAlive = false;
  /** Another one after each start. */
  incarnation = 0;
  frozenUntil = 0;
  /** From, to. */
  readonly frozen: [number, number][] = [];

  constructor(kernel: Kernel, name: string) {
    this.kernel = kernel;
    this.name = name;
  }

  begin(): void {
    this.incarnation += 1;
    this.isAlive = true;
    this.frozenUntil = 0;
  }

  kill(): void {
    this.isAlive = false;
    this.incarnation += 1;
  }

  freeze(ms: number): void {
    this.frozenUntil = this.kernel.now + ms;
    this.frozen.push([this.kernel.now, this.frozenUntil]);
  }

  get isFrozen(): boolean {
    return this.frozenUntil > this.kernel.now;
  }

  /** Whether it stood still at a time since then. */
  stoodStillSince(time: number): boolean {
    return this.frozen.some(([, to]) => to >= time);
  }

  /** @returns what calls it off */
  readonly after = (ms: number, happen: () => void): (() => void) => {
    const { kernel } = this;
    let isOff = false;
    const go = this.bound(() => {
      if (isOff) return;
      if (this.isFrozen) kernel.at(this.frozenUntil, go);
      else happen();
    });
    kernel.after(ms, go);
    return () => {
      isOff = true;
    };
  };

  /** Nothing, once this process was killed. */
  bound(happen: () => void): () => void {
    const { incarnation } = this;
    return () => {
      if (this.isAlive && incarnation === this.incarnation) happen();
    };
  }

  readonly pause = (ms: number): Promise<void> => new Promise((resolve) => void this.after(ms, resolve));

  /** What another machine does answers after a while, whatever becomes of this process. */
  readonly call = <T>(most: number, work: () => T): Promise<T> => {
    const { kernel } = this;
    return new Promise((resolve) => {
      const { incarnation } = this;
      let result: T;
      const answer = this.bound(() => void this.after(kernel.between(1, most), () => resolve(result)));
      kernel.after(kernel.between(1, most), () => {
        if (incarnation !== this.incarnation && kernel.chance(0.5)) return;
        result = work();
        answer();
      });
    });
  };
}
