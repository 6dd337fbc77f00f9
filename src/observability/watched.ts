/** What is asked only on a scrape, and how samples are made of it. */
import type { ConsumerState, PartitionState } from '../ports/broker.js';
import type { Sample } from './exposition.js';
import type { PartState } from './readiness.js';

interface DispatcherSample {
  readonly active: number;
  readonly waiting: number;
  readonly breakersOpen: number;
  /** Backpressure: records stay in their topics because the process is saturated. */
  readonly consumptionPaused: boolean;
  /** For how long the oldest routed payment has waited for its confirmation; 0 if none waits. */
  readonly unconfirmedMs: number;
  /** Records in each tier that this process does not read; 0 for a tier that it reads. */
  readonly unreadTiers: readonly (readonly [tier: string, records: number])[];
}

interface ReadModelSample {
  /** ms since it was last up to date with the store; 0 while it keeps up. */
  readonly behindMs: number;
  readonly unreadableAccounts: number;
}

/** What a process does not have is undefined, and its metrics have no values. */
export interface Watched {
  readonly build: { readonly version: string; readonly roles: readonly string[] };
  readonly eventLoopDelay: () => Iterable<Sample>;
  readonly consumers: Map<string, () => ConsumerState | null>;
  /** `tierOf`: the delay of a tier's topic, as the schedule writes it. */
  dispatcher?: { readonly tierOf: (topic: string) => string; readonly sample: () => DispatcherSample };
  /** One for all projections. */
  readModel?: { readonly projections: readonly string[]; readonly sample: () => ReadModelSample };
  parts?: () => readonly Pick<PartState, 'part' | 'ready'>[];
}

/** The same, with each part sampled once however many metrics are taken from it. */
export function sampledOnce({ consumers, dispatcher, readModel, ...others }: Watched): Watched {
  return {
    ...others,
    consumers: new Map([...consumers].map(([name, sample]) => [name, once(sample)])),
    ...(dispatcher && { dispatcher: { ...dispatcher, sample: once(dispatcher.sample) } }),
    ...(readModel && { readModel: { ...readModel, sample: once(readModel.sample) } }),
  };
}

function once<T>(sample: () => T): () => T {
  let known: { readonly value: T } | undefined;
  return () => {
    known ??= { value: sample() };
    return known.value;
  };
}

export type Look = (watched: Watched) => Iterable<Sample>;
type Merge = (values: readonly number[]) => number;
export const sum: Merge = (values) => values.reduce((total, value) => total + value, 0);
export const most: Merge = (values) => Math.max(0, ...values);

export function byPartition(value: (partition: PartitionState) => number): Look {
  return ({ consumers }) =>
    partitionsOf([...consumers.values()]).map((one) => [value(one), one.topic, String(one.partition)]);
}

export function byTopic(merge: Merge, value: (partition: PartitionState) => number): Look {
  return ({ consumers }) => merged(partitionsOf([...consumers.values()]), ({ topic }) => topic, merge, value);
}

export function byTier(merge: Merge, value: (partition: PartitionState) => number): Look {
  return ({ consumers, dispatcher }) => {
    const retries = partitionsOf([consumers.get('retries') ?? (() => null)]);
    return dispatcher ? merged(retries, ({ topic }) => dispatcher.tierOf(topic), merge, value) : [];
  };
}

export function ofDispatcher(value: (sample: DispatcherSample) => number): Look {
  return ({ dispatcher }) => (dispatcher ? [[value(dispatcher.sample())]] : []);
}

function partitionsOf(consumers: readonly (() => ConsumerState | null)[]): readonly PartitionState[] {
  return consumers.flatMap((sample) => sample()?.partitions ?? []);
}

function merged<T>(all: readonly T[], nameOf: (one: T) => string, merge: Merge, value: (one: T) => number): Sample[] {
  const values = new Map<string, number[]>();
  for (const one of all) values.set(nameOf(one), [...(values.get(nameOf(one)) ?? []), value(one)]);
  return [...values].map(([name, of]) => [merge(of), name]);
}
