/** The contract of src/ports/event-store.ts: every sentence of its comment is a case. */
import { appending } from './event-store/appending.js';
import { closing } from './event-store/closing.js';
import type { StoreCase } from './event-store/follower.js';
import { reading } from './event-store/reading.js';
import { subscribing } from './event-store/subscribing.js';

export const cases: readonly StoreCase[] = [...appending, ...reading, ...subscribing, ...closing];
