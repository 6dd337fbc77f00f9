/** A suite that no adapter can fail proves nothing: here each sentence is broken once, and the suite must see it. */
import { type AskedCore, sqliteDeliveriesView, VIEW_SIZE } from '../support/scenes/deliveries-view-subject.js';
import {
  SQLITE,
  sqliteBroker,
  sqliteEventStore,
  sqliteProjectionStates,
  sqliteRequestChains,
  type Wrap,
} from '../support/scenes/sqlite-subjects.js';
import { withMethods } from '../support/scenes/with-methods.js';
import { BROKEN_CONSUMERS } from './broken/consumers.js';
import { BROKEN_STORES, type Broken } from './broken/event-stores.js';
import { BROKEN_CHAINS } from './broken/request-chains.js';
import { BROKEN_TOPICS } from './broken/topics.js';
import { BROKEN_STATES, BROKEN_VIEWS } from './broken/views.js';
import { cases as brokerCases } from './broker-contract.js';
import { type ContractCase, type Features, type Open, runCase, type Subject, within } from './contract.js';
import { cases as viewCases } from './deliveries-view-contract.js';
import { cases as eventStoreCases } from './event-store-contract.js';
import { cases as statesCases } from './projection-states-contract.js';
import { cases as chainsCases } from './request-chains-contract.js';

/** What is broken is waited for in vain. */
const BROKEN: Features = { ...SQLITE, patienceMs: 750, isPatient: false };
/** They mostly wait. */
const AT_ONCE = 8;
const LIMIT_MS = 10_000;

type Cases<Port> = readonly ContractCase<Subject<Port>>[];

/** A case, and what it runs on. */
interface Trial<Port> {
  readonly open: Open<Port>;
  readonly one: ContractCase<Subject<Port>>;
}

/** The trials that fail, and how; one that hangs has failed. */
async function failing<Port>(trials: readonly Trial<Port>[], features: Features) {
  const failed = new Map<Trial<Port>, string>();
  const limited = { features: { ...features, patienceMs: LIMIT_MS } };
  const waiting = [...trials];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const trial = next;
      const running = within(limited, 'it hangs', runCase(trial.open, features, trial.one));
      await running.catch((error: unknown) => failed.set(trial, `${trial.one.name}: ${error}`));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failed;
}

function named<Port>(cases: Cases<Port>, name: string): ContractCase<Subject<Port>> {
  const found = cases.find((one) => one.name === name);
  if (!found) throw new Error(`no case is called: ${name}`);
  return found;
}

/** A sound adapter by its sentences, and what breaks it. */
interface Suite<Port> {
  readonly cases: Cases<Port>;
  readonly make: (wrap?: Wrap<Port>) => Open<Port>;
  readonly broken: readonly Broken<Port>[];
}

function testSuite<Port extends object>({ cases, make, broken }: Suite<Port>): void {
  const trials = broken.flatMap(([what, breaking, ...names]) => {
    const open = make((port) => withMethods(port, breaking(port)));
    return names.map((name) => ({ of: what, open, one: named(cases, name) }));
  });
  let failed: ReadonlyMap<Trial<Port>, string>;
  beforeAll(async () => {
    failed = await failing(trials, BROKEN);
  });

  test('is not broken fails none of these cases', async () => {
    const open = make();
    const sound = [...new Set(trials.map(({ one }) => one))].map((one) => ({ open, one }));
    expect([...(await failing(sound, SQLITE)).values()]).toEqual([]);
  });

  test.each(broken.map(([what]) => what))('%s is found', (what) => {
    const passed = trials.filter((trial) => trial.of === what && !failed.has(trial));
    expect(passed.map(({ one }) => one.name)).toEqual([]);
  });
}

describe('an event store that', () => {
  testSuite({ cases: eventStoreCases, make: sqliteEventStore, broken: BROKEN_STORES });
});

describe('a broker that', () => {
  testSuite({ cases: brokerCases, make: sqliteBroker, broken: [...BROKEN_TOPICS, ...BROKEN_CONSUMERS] });
});

describe('a deliveries view that', () => {
  const make = (wrap?: Wrap<AskedCore>) => sqliteDeliveriesView(VIEW_SIZE, wrap);
  testSuite({ cases: viewCases, make, broken: BROKEN_VIEWS });
});

describe('a keeper of projection states that', () => {
  testSuite({ cases: statesCases, make: sqliteProjectionStates, broken: BROKEN_STATES });
});

describe('chains of requests that', () => {
  testSuite({ cases: chainsCases, make: sqliteRequestChains, broken: BROKEN_CHAINS });
});
