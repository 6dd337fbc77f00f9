import {
  SQLITE,
  sqliteBroker,
  sqliteEventStore,
  sqliteProjectionStates,
  sqliteRequestChains,
} from '../support/scenes/sqlite-subjects.js';
import { cases as brokerCases } from './broker-contract.js';
import { describeContract } from './contract.js';
import { cases as eventStoreCases } from './event-store-contract.js';
import { cases as projectionStatesCases } from './projection-states-contract.js';
import { cases as requestChainsCases } from './request-chains-contract.js';

describeContract('the event store on SQLite', sqliteEventStore(), SQLITE, eventStoreCases);
// Its cases mostly wait.
describeContract('the broker on SQLite', sqliteBroker(), { ...SQLITE, isConcurrent: true }, brokerCases);
describeContract('the projection states on SQLite', sqliteProjectionStates(), SQLITE, projectionStatesCases);
describeContract('the chains of requests on SQLite', sqliteRequestChains(), SQLITE, requestChainsCases);
