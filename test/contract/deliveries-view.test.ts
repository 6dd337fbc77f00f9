import { sqliteDeliveriesView } from '../support/deliveries-view-subject.js';
import { SQLITE } from '../support/sqlite-subjects.js';
import { describeContract } from './contract.js';
import { cases } from './deliveries-view-contract.js';

describeContract('the deliveries view on SQLite', sqliteDeliveriesView, { ...SQLITE, damage: true }, cases);
