/** The contract of src/ports/broker.ts: every sentence of its comment is a case. */
import { closing } from './broker/closing.js';
import { following } from './broker/following.js';
import { handingOut } from './broker/handing-out.js';
import { holding } from './broker/holding.js';
import type { BrokerCase } from './broker/inbox.js';
import { mayBegin } from './broker/may-begin.js';
import { notBefore } from './broker/not-before.js';
import { publishing } from './broker/publishing.js';
import { reading } from './broker/reading.js';
import { rejectingCases } from './broker/rejecting.js';
import { turns } from './broker/turns.js';
import { extents, unreadable } from './broker/unreadable.js';

export const cases: readonly BrokerCase[] = [
  ...publishing,
  ...reading,
  ...handingOut,
  ...holding,
  ...mayBegin,
  ...turns,
  ...rejectingCases,
  ...notBefore,
  ...unreadable,
  ...extents,
  ...following,
  ...closing,
];
