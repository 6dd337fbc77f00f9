/** The contract of src/ports/deliveries-view.ts: every sentence of its comment is a case. */
import { arriving } from './deliveries-view/arriving.js';
import { bounding } from './deliveries-view/bounding.js';
import { counting } from './deliveries-view/counting.js';
import { eventPaging } from './deliveries-view/event-paging.js';
import { filtering } from './deliveries-view/filtering.js';
import { folding } from './deliveries-view/folding.js';
import { keeping } from './deliveries-view/keeping.js';
import { missing } from './deliveries-view/missing.js';
import { paging } from './deliveries-view/paging.js';
import { recovering } from './deliveries-view/recovering.js';
import { strangers } from './deliveries-view/strangers.js';
import type { ViewCase } from './deliveries-view/view-case.js';

export const cases: readonly ViewCase[] = [
  ...[...folding, ...paging, ...filtering, ...keeping],
  ...[...eventPaging, ...counting, ...recovering],
  ...[...arriving, ...missing, ...strangers],
];

/** Of a view of 3 MiB. */
export const boundedCases: readonly ViewCase[] = bounding;
