/** The contract of src/ports/deliveries-view.ts: every sentence of its comment is a case. */
import { filtering } from './deliveries-view/filtering.js';
import { folding } from './deliveries-view/folding.js';
import { keeping } from './deliveries-view/keeping.js';
import { paging } from './deliveries-view/paging.js';
import type { ViewCase } from './deliveries-view/view-case.js';

export const cases: readonly ViewCase[] = [...folding, ...paging, ...filtering, ...keeping];
