/**
 * What a contract suite is: cases as data, so that they run over every adapter by jest, and over broken ones without it.
 * A case knows a port and nothing of what is behind it: how many partitions, gaps in offsets, shared servers, latency.
 */
import { randomUUID } from 'node:crypto';
import { eventually, HANG_MS } from '../support/clocks/eventually.js';

/** What only some adapters can show; a case that needs what one lacks is left out, loudly. */
export type Feature =
  /** The consumers of a group share the partitions of its topics: who joins takes some from others. */
  | 'sharedGroups'
  /** A record keeps the order of headers with different names. */
  | 'headerOrder'
  /** What is behind the adapter can be made not to answer. */
  | 'stall'
  /** What is behind the adapter can be damaged while it is in use. */
  | 'damage'
  /** A topic can be given what no reader of it can read. */
  | 'poison'
  /** Twenty of them are quick: on Kafka each takes 32 MiB of zeros to pack and to unpack. */
  | 'muchPoison';

export interface Features {
  readonly has: readonly Feature[];
  /** Cases run at once: for an adapter whose server takes its time and has room for several. */
  readonly isConcurrent?: boolean;
  /** How long a case waits for what has to come. */
  readonly patienceMs: number;
  /** False where it waits in vain, for an adapter that is broken on purpose. */
  readonly isPatient?: boolean;
}

/** An adapter over data of its own. */
export interface Subject<Port> {
  readonly features: Features;
  /** The instance in use; reopen puts another in its place. */
  readonly port: Port;
  /** Closes the port and opens the same data again. */
  reopen(): Promise<Port>;
  /** The view of another process: a further instance on the same data. */
  another(): Promise<Port>;
  /** What is behind does not answer until the returned function is called. */
  stall(): Promise<() => Promise<void>>;
  damage(): Promise<void>;
  /** Puts what can't be read behind the last record of the topic, where its records of one key are. */
  poison(topic: string): Promise<void>;
  close(): Promise<void>;
}

export interface ContractCase<Subject> {
  /** A sentence of the contract. */
  readonly name: string;
  readonly needs?: Feature;
  run(subject: Subject): Promise<void>;
}

export type Open<Port> = (features: Features) => Promise<Subject<Port>>;

export function describeContract<Port>(
  adapter: string,
  open: Open<Port>,
  features: Features,
  cases: readonly ContractCase<Subject<Port>>[],
): void {
  describe(adapter, () => {
    for (const one of cases) {
      const { name, needs } = one;
      if (needs && !features.has.includes(needs))
        test.skip(`${name} [LEFT OUT: ${adapter} has no ${needs}]`, () => undefined);
      else {
        const register = features.isConcurrent ? test.concurrent : test;
        register(name, () => runCase(open, features, one));
      }
    }
  });
}

/** One case over data of its own, whatever runs it. */
export async function runCase<Port>(
  open: Open<Port>,
  features: Features,
  { run }: ContractCase<Subject<Port>>,
): Promise<void> {
  const subject = await open(features);
  try {
    await run(subject);
  } finally {
    await subject.close();
  }
}

/** A name nobody else uses, also on a shared server. */
export function unique(name: string): string {
  return `${name}-${randomUUID()}`;
}

interface Patient {
  readonly features: Features;
}

/** Waits for a condition as long as the adapter asks for. */
export function soon<T>({ features }: Patient, message: string, condition: () => T | Promise<T>) {
  const { patienceMs: timeout, isPatient = true } = features;
  return eventually(condition, { timeout, message, isPatient });
}

/** What the promise gives, or an error when that takes longer than the adapter asks for. */
export async function within<T>({ features }: Patient, message: string, promise: Promise<T>): Promise<T> {
  const { patienceMs, isPatient = true } = features;
  const limitMs = isPatient ? HANG_MS : patienceMs;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const tooLate = () => reject(new Error(`${message} (within ${limitMs} ms)`));
    timer = setTimeout(tooLate, limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The error a call failed with; the call must fail. */
export async function errorOf(subject: Patient, call: () => Promise<unknown>): Promise<unknown> {
  const outcome = await within(
    subject,
    'the call did not end',
    (async () => call())().then(
      () => null,
      (error: unknown) => ({ error }),
    ),
  );
  if (!outcome) throw new Error('the call was fulfilled where it has to be rejected');
  return outcome.error;
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
