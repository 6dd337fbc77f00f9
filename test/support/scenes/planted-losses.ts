/** Losses for an audit to report: each is planted into a history that is complete. */
import type { Report } from '../../../src/audit/report.js';
import type { Fact, History } from '../generators/payment-histories.js';
import { HistoryTopics } from './history-topics.js';

interface Planting {
  readonly given: History;
  /** Empty. */
  readonly topics: HistoryTopics;
  readonly pick: <T>(all: readonly T[]) => T | undefined;
}

/** A delivery, or the record of a payment. */
interface Lost {
  readonly topic: string;
  readonly source: string;
  readonly webhookId: number | null;
}

interface Loss {
  /** Null if the history has nothing to lose in this way. */
  readonly plant: (planting: Planting) => Lost | null;
  readonly isReported: (report: Report, lost: Lost) => boolean;
}

interface About {
  readonly p: number;
  readonly webhookId: number;
}

export const LOSSES: Readonly<Record<string, Loss>> = {
  'the routed entries of a payment that is done': {
    plant: ({ given, topics, pick }) => {
      const payment = pick(given.facts.filter((fact) => fact.kind === 'routed'));
      if (!payment) return null;
      topics.write(given.facts.filter((fact) => fact.kind !== 'routed' || fact.p !== payment.p));
      return toLost(topics, payment.p);
    },
    isReported: isUnanswered,
  },
  'all records of a delivery that is done, of a payment that is not': {
    plant: ({ given, topics, pick }) => {
      const isPartDone = (about: About) => factsAbout(given, about).some(({ kind }) => kind === 'part-done');
      const one = pick(routedToAll(given).filter(isPartDone));
      if (!one) return null;
      const isKept = (fact: Fact) =>
        fact.kind === 'part-done' || (!isAbout(one, fact) && (fact.kind !== 'done' || fact.p !== one.p));
      topics.write(given.facts.filter(isKept));
      return toLost(topics, one.p, one.webhookId);
    },
    isReported: isUnanswered,
  },
  'the end of a delivery whose retries are done': {
    plant: ({ given, topics, pick }) => {
      const isEnd = (fact: Fact) =>
        fact.kind === 'letter' ||
        (fact.kind === 'entry' && fact.outcome !== 'retrying') ||
        (fact.kind === 'request' && fact.cancels);
      const one = pick(routedToAll(given).filter((about) => factsAbout(given, about).some(isEnd)));
      if (!one) return null;
      topics.write([...given.facts.filter((fact) => !isAbout(one, fact) || !isEnd(fact)), ...retriesDone(given, one)]);
      return toLost(topics, one.p, one.webhookId);
    },
    isReported: isUnanswered,
  },
  'a request that was committed and not attempted': {
    plant: ({ given, topics, pick }) => {
      const isRequested = (about: About) => {
        const facts = factsAbout(given, about);
        return !facts.some(isDelivered) && facts.at(-1)?.kind === 'request' && !isCancellation(facts.at(-1));
      };
      const one = pick(routedToAll(given).filter(isRequested));
      if (!one) return null;
      topics.write([...given.facts, ...retriesDone(given, one)]);
      return toLost(topics, one.p, one.webhookId);
    },
    isReported: isUnanswered,
  },
  'the end of a delivery whose bundle has others that wait': {
    plant: ({ given, topics, pick }) => {
      const bundled = pick(given.facts.flatMap((_, index) => bundledAfter(given, index + 1)));
      if (!bundled) return null;
      const { sofar, one } = bundled;
      topics.write(sofar.facts);
      topics.write(retriesDone(sofar, one));
      return toLost(topics, one.p, one.webhookId);
    },
    isReported: isUnanswered,
  },
  'the dead letters of an exhausted delivery': {
    plant: ({ given, topics, pick }) => {
      const isExhausted = (about: About) => {
        const facts = factsAbout(given, about);
        const entries = facts.filter((fact) => fact.kind === 'entry');
        const isOnly = entries.every(({ outcome }) => outcome === 'exhausted' || outcome === 'retrying');
        return isOnly && facts.some(({ kind }) => kind === 'letter') && !facts.some(isCancellation);
      };
      const one = pick(routedToAll(given).filter(isExhausted));
      if (!one) return null;
      topics.write([
        ...given.facts.filter((fact) => !isAbout(one, fact) || fact.kind !== 'letter'),
        ...retriesDone(given, one),
      ]);
      return toLost(topics, one.p, one.webhookId);
    },
    isReported: isUnanswered,
  },
  'a delivery that was left out of its bundle': {
    plant: ({ given, topics, pick }) => {
      const one = pick(routedToAll(given).filter((about) => hasOnlyWaited(factsAbout(given, about))));
      if (!one) return null;
      topics.write(given.facts);
      topics.erase(factsAbout(given, one).filter(isRetry));
      return toLost(topics, one.p, one.webhookId);
    },
    isReported: isUnanswered,
  },
  'the record of a payment that was routed': {
    plant: ({ given, topics, pick }) => {
      const isTimed = (p: number) => Number.isSafeInteger(given.payments[p]?.at) && (given.payments[p]?.at ?? -1) >= 0;
      const routed = pick(given.facts.filter((fact) => fact.kind === 'routed' && isTimed(fact.p)));
      if (routed?.kind !== 'routed') return null;
      topics.write(given.facts);
      topics.erase(given.facts.filter((fact) => fact.kind === 'payment' && fact.p === routed.p));
      return toLost(topics, routed.p);
    },
    isReported: ({ lost }, { topic }) => lost.some((one) => one.topic === topic),
  },
};

function isUnanswered(report: Report, { source, webhookId }: Lost): boolean {
  return [...report.found('unanswered')].some(
    (found) => found.source === source && (found.webhookId ?? null) === webhookId,
  );
}

function toLost(topics: HistoryTopics, p: number, webhookId: number | null = null): Lost {
  const { topic, partition, offset } = topics.recordOf(p);
  return { topic, source: `${topic}/${partition}/${offset}`, webhookId };
}

/** Completes the delivery's retry records and requests; others of their bundles, and records before them, may stay open. */
function retriesDone(given: History, one: About): Fact[] {
  return factsAbout(given, one).flatMap((fact) =>
    fact.kind === 'retry' || fact.kind === 'request' ? [{ kind: 'retried', id: fact.id } as const] : [],
  );
}

function isDelivered(fact: Fact): boolean {
  return fact.kind === 'entry' && fact.outcome === 'delivered';
}

function isRetry({ kind }: Fact): boolean {
  return kind === 'retry';
}

function isWaiting(fact: Fact): boolean {
  return fact.kind === 'entry' && fact.outcome === 'retrying';
}

function hasOnlyWaited(facts: readonly Fact[]): boolean {
  return facts.some(isRetry) && facts.every((fact) => isRetry(fact) || isWaiting(fact) || fact.kind === 'part-done');
}

function isCancellation(fact: Fact | undefined): boolean {
  return fact?.kind === 'request' && fact.cancels;
}

function factsAbout({ facts }: History, one: About): readonly Fact[] {
  return facts.filter((fact) => isAbout(one, fact));
}

export function isAbout(one: About, fact: Fact): boolean {
  return 'webhookId' in fact && fact.p === one.p && fact.webhookId === one.webhookId;
}

/** A delivery that the last of so many facts is about, if it is done, and waits in a bundle with another one that is open. */
function bundledAfter(given: History, count: number): readonly { readonly sofar: History; readonly one: About }[] {
  const sofar = { ...given, facts: given.facts.slice(0, count) };
  const last = sofar.facts.at(-1);
  const one = routedToAll(sofar).find((about) => last && isAbout(about, last));
  if (!one) return [];
  const facts = factsAbout(sofar, one);
  const retry = facts.findLast((fact) => fact.kind === 'retry');
  if (!retry || !hasOnlyWaited(facts) || !facts.some(({ kind }) => kind === 'part-done')) return [];
  const topics = new HistoryTopics(sofar);
  topics.write(sofar.facts);
  return topics.isBundleOpen(retry.id) ? [{ sofar, one }] : [];
}

/** Deliveries that each hand-out of their payment routed. */
export function routedToAll({ facts }: History): readonly About[] {
  const entries = facts.filter((fact) => fact.kind === 'routed');
  return entries.flatMap(({ p, webhooks }) =>
    webhooks
      .map((webhookId) => ({ p, webhookId }))
      .filter((one) => entries.every((entry) => entry.p !== p || entry.webhooks.includes(one.webhookId))),
  );
}
