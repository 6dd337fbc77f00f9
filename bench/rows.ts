/** Every row, in the order of the table. */
import { accountAtLimits } from './rows/account-at-limits.js';
import { atRest, atRestKafka } from './rows/at-rest.js';
import { audit, auditDisk, auditMemory } from './rows/audit.js';
import { dearReceivers, manyHeadersKafka } from './rows/dear-receivers.js';
import { deliveryPages } from './rows/delivery-pages.js';
import { firstScreen } from './rows/first-screen.js';
import { get } from './rows/get.js';
import {
  hostileAccounts,
  hostileAccounts150,
  hostileAccountsMemory,
  hostileAccountsNewcomer,
} from './rows/hostile-accounts.js';
import { kills } from './rows/kills.js';
import { hangingUrl, hangingUrlKafka, latency, latencyKafka } from './rows/latency.js';
import { memory } from './rows/memory.js';
import { pipeline, pipelineKafka } from './rows/pipeline.js';
import { post } from './rows/post.js';
import { publish, publishFlood, publishKafka } from './rows/publish.js';
import { rebuild } from './rows/rebuild.js';
import { recoveryBeside } from './rows/recovery-beside.js';
import { slowEndpoints, slowEndpoints150 } from './rows/slow-endpoints.js';
import { sparse, sparseCpu } from './rows/sparse.js';
import type { Row } from './support/row.js';

export const ROWS: readonly Row[] = [
  pipeline,
  pipelineKafka,
  latency,
  latencyKafka,
  hangingUrl,
  hangingUrlKafka,
  get,
  post,
  publish,
  publishKafka,
  publishFlood,
  rebuild,
  memory,
  deliveryPages,
  firstScreen,
  audit,
  auditMemory,
  auditDisk,
  sparse,
  sparseCpu,
  accountAtLimits,
  recoveryBeside,
  dearReceivers,
  manyHeadersKafka,
  atRest,
  atRestKafka,
  hostileAccounts,
  hostileAccounts150,
  hostileAccountsNewcomer,
  hostileAccountsMemory,
  slowEndpoints,
  slowEndpoints150,
  kills,
];

/** @param names none is all of them */
export function chosenRows(names: readonly string[]): readonly Row[] {
  const unknown = names.filter((name) => !ROWS.some((row) => row.name === name));
  if (unknown.length > 0) {
    throw new Error(`there is no row ${unknown.join()}: there are ${ROWS.map(({ name }) => name).join()}`);
  }
  return names.length > 0 ? ROWS.filter(({ name }) => names.includes(name)) : ROWS;
}
