import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What takes long and guards what seldom changes: `make test` leaves these files to `make test-all`, which CI runs. One that is
 * named (`npx jest test/e2e/tour.test.ts`) runs at once. docs/decisions/0006 says what is left of each subject.
 */
export const LEFT_TO_TEST_ALL = [
  // Documents and samples, tried as they are printed, and the package.
  ...['demo-keep', 'http-producers', 'producers'].map(e2e),
  ...['quick-start', 'receivers', 'tour'].map(e2e),
  // What a process gets from its machine: users, certificates, output, the master key, another history.
  ...['backup', 'client-certificate', 'commands', 'master-key', 'other-history'].map(e2e),
  ...['process-trust', 'planted-secrets'].map(e2e),
  ...['account-unreadable', 'completeness-kafka', 'doctor-servers', 'recover', 'traces'].map(e2e),
  // Faults of a configuration, of files and of single records; those of a process or a server that dies stay.
  ...['clock', 'damaged-files', 'unreadable'].map(faults),
  ...['kafka-permission', 'kafka-rights', 'kafka-secured'].map(faults),
  ...['held-up', 'hostile-receivers', 'kafka-silent', 'scale-out', 'view-killed'].map(faults),
  ...['keyless-payments', 'many-headers', 'routed-behind', 'servers-lost', 'settled-behind'].map(faults),
  ...['clock-retention', 'eventstoredb-outages', 'published-by-http', 'suspended'].map(faults),
  // Whether the contract's cases can fail, whether the test server is what was measured of EventStoreDB, and projections.
  'contract/broken-adapters.test.ts',
  'services/eventstoredb/all-events.test.ts',
  'cli/projections.test.ts',
  // Clients against servers that are silent or go away one after the other, and another application in the group.
  ...['kafka/failed-join', 'kafka/inspection', 'kafka/silent-kafka'].map(adapters),
  ...['eventstoredb/cluster', 'eventstoredb/one-history-property'].map(adapters),
];

const missing = LEFT_TO_TEST_ALL.filter((file) => !existsSync(join(import.meta.dirname, '..', file)));
if (missing.length > 0) throw new Error(`test/runner/left-to-test-all.js names files that are gone: ${missing.join()}`);

function e2e(name) {
  return `e2e/${name}.test.ts`;
}

function faults(name) {
  return `faults/${name}.test.ts`;
}

function adapters(name) {
  return `adapters/${name}.test.ts`;
}
