import { inFull } from '../runner/thorough.js';
import { REAL_PROGRAM, SERVER_VERSIONS, type ServerVersion } from '../services/eventstoredb/own-server.js';
import {
  onRealServer,
  onStartedServer,
  onTestServer,
  REAL_SERVER,
  TEST_SERVER,
} from '../support/scenes/eventstoredb-subjects.js';
import { describeContract } from './contract.js';
import { cases } from './event-store-contract.js';

for (const version of inFull<readonly ServerVersion[]>(SERVER_VERSIONS, SERVER_VERSIONS.slice(-1))) {
  const adapter = `the event store on the test server as EventStoreDB ${version}`;
  describeContract(adapter, onTestServer(version), TEST_SERVER, cases);
}

const url = process.env.EVENTSTOREDB_URL;
if (url) describeContract('the event store on a real EventStoreDB', onRealServer(url), REAL_SERVER, cases);
if (REAL_PROGRAM) {
  const adapter = 'the event store on a real EventStoreDB for each case';
  describeContract(adapter, onStartedServer(REAL_PROGRAM), REAL_SERVER, cases);
}
if (!url && !REAL_PROGRAM) {
  const missing = 'IS NOT THERE: set EVENTSTOREDB_URL or EVENTSTOREDB_COMMAND';
  describe('A REAL EVENTSTOREDB', () => test.skip(missing, () => undefined));
}
