import { describe, test } from '@jest/globals';
import { onRealServer, onTestServer, REAL_SERVER, TEST_SERVER } from '../support/eventstoredb-subjects.js';
import { describeContract } from './contract.js';
import { cases } from './event-store-contract.js';

describeContract('the event store on the EventStoreDB test server', onTestServer(), TEST_SERVER, cases);

const url = process.env.EVENTSTOREDB_URL;
if (url) describeContract('the event store on a real EventStoreDB', onRealServer(url), REAL_SERVER, cases);
else describe('A REAL EVENTSTOREDB', () => test.skip('IS NOT THERE: set EVENTSTOREDB_URL', () => undefined));
