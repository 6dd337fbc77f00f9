/** An adapter as a subject of the contract suites: one instance in use, others beside it, and their backend. */
import type { Features, Subject } from '../../contract/contract.js';

/** An instance of the adapter, and a function that closes it with all its resources. */
export interface Opened<Port> {
  readonly port: Port;
  close(): Promise<void>;
}

/** A subject omits unsupported operations: the features say so, and no case calls them. */
export interface Behind {
  /** Nothing answers until the returned function is called. */
  readonly stall?: () => Promise<() => Promise<void>>;
  readonly damage?: () => Promise<void>;
  readonly poison?: (topic: string) => Promise<void>;
  /** Called once every instance is closed. */
  readonly close?: () => Promise<void>;
}

export class AdapterSubject<Port> implements Subject<Port> {
  readonly features: Features;
  readonly #open: () => Opened<Port>;
  readonly #behind: Behind;
  readonly #others: Opened<Port>[] = [];
  #inUse: Opened<Port>;

  constructor(features: Features, open: () => Opened<Port>, behind: Behind = {}) {
    this.features = features;
    this.#open = open;
    this.#behind = behind;
    this.#inUse = open();
  }

  get port(): Port {
    return this.#inUse.port;
  }

  async reopen(): Promise<Port> {
    await this.#inUse.close();
    this.#inUse = this.#open();
    return this.port;
  }

  async another(): Promise<Port> {
    const other = this.#open();
    this.#others.push(other);
    return other.port;
  }

  stall(): Promise<() => Promise<void>> {
    return this.#behind.stall?.() ?? notHere();
  }

  damage(): Promise<void> {
    return this.#behind.damage?.() ?? notHere();
  }

  poison(topic: string): Promise<void> {
    return this.#behind.poison?.(topic) ?? notHere();
  }

  async close(): Promise<void> {
    await Promise.all([this.#inUse, ...this.#others].map((opened) => opened.close()));
    await this.#behind.close?.();
  }
}

/** A port without other resources to close. */
export function alone<Port extends { close(): Promise<void> }>(port: Port): Opened<Port> {
  return { port, close: () => port.close() };
}

function notHere(): Promise<never> {
  return Promise.reject(new Error('not here'));
}
