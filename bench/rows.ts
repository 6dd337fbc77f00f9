/** Every row, in the order of the table. */
import { accountAtLimits } from './rows/account-at-limits.js';
import { atRest } from './rows/at-rest.js';
import { audit } from './rows/audit.js';
import { backlog } from './rows/backlog.js';
import { burstMany } from './rows/burst-many.js';
import { burstOne } from './rows/burst-one.js';
import { dearReceivers } from './rows/dear-receivers.js';
import { deliveryPages } from './rows/delivery-pages.js';
import { firstScreen } from './rows/first-screen.js';
import { get } from './rows/get.js';
import { hostileAccounts } from './rows/hostile-accounts.js';
import { hostileBurst } from './rows/hostile-burst.js';
import { kills } from './rows/kills.js';
import { largeAccount } from './rows/large-account.js';
import { latency } from './rows/latency.js';
import { littleTraffic } from './rows/little-traffic.js';
import { manyAccounts } from './rows/many-accounts.js';
import { memory } from './rows/memory.js';
import { names } from './rows/names.js';
import { outage } from './rows/outage.js';
import { pipeline } from './rows/pipeline.js';
import { post } from './rows/post.js';
import { publish } from './rows/publish.js';
import { rebuild } from './rows/rebuild.js';
import { recoveryBeside } from './rows/recovery-beside.js';
import { retainedRequests } from './rows/retained-requests.js';
import { revoke } from './rows/revoke.js';
import { slowEndpoints } from './rows/slow-endpoints.js';
import { sparse } from './rows/sparse.js';
import { start } from './rows/start.js';
import { urgent } from './rows/urgent.js';
import type { Row } from './support/row.js';

const DELIVERING = [...pipeline, ...latency];
const ASKED = [
  get,
  post,
  ...publish,
  rebuild,
  retainedRequests,
  manyAccounts,
  revoke,
  memory,
  deliveryPages,
  largeAccount,
  firstScreen,
  ...audit,
];
const HEALTHY = [...start, ...burstMany, ...burstOne, ...outage, urgent, ...backlog, ...hostileBurst];
const BESIDE = [
  ...sparse,
  accountAtLimits,
  recoveryBeside,
  ...dearReceivers,
  ...atRest,
  ...littleTraffic,
  ...hostileAccounts,
  ...slowEndpoints,
  ...names,
];
export const ROWS: readonly Row[] = [...DELIVERING, ...ASKED, ...HEALTHY, ...BESIDE, kills];

/** @param names none is all of them */
export function chosenRows(names: readonly string[]): readonly Row[] {
  const unknown = names.filter((name) => !ROWS.some((row) => row.name === name));
  if (unknown.length > 0) {
    throw new Error(`there is no row ${unknown.join()}: there are ${ROWS.map(({ name }) => name).join()}`);
  }
  return names.length > 0 ? ROWS.filter(({ name }) => names.includes(name)) : ROWS;
}
