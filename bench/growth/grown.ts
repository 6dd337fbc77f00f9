/** What came out along one axis. */
import type { LinePlot } from '../support/line-plot.js';
import type { Tell } from '../support/row.js';

export interface Grown {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly plots: readonly (LinePlot & { readonly file: string })[];
}

export interface Growing {
  /** For BENCH_ONLY. */
  readonly name: string;
  run(tell: Tell): Promise<Grown>;
}
