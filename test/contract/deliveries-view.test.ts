import { sqliteDeliveriesView } from '../support/scenes/deliveries-view-subject.js';
import { SQLITE } from '../support/scenes/sqlite-subjects.js';
import { describeContract } from './contract.js';
import { boundedCases, cases } from './deliveries-view-contract.js';

describeContract('the deliveries view on SQLite', sqliteDeliveriesView(), SQLITE, cases);
describeContract('a deliveries view of 3 MiB on SQLite', sqliteDeliveriesView(3 * 1024 ** 2), SQLITE, boundedCases);
