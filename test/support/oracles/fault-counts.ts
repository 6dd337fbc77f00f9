/** The counted effects of a fault: printed, and appended to the file FAULT_COUNTS, if set (bench/rows/kills.ts). */
import { appendFileSync } from 'node:fs';

export interface FaultCounts {
  /** The fault, and other observations. */
  readonly what: string;
  readonly pairs: number;
  readonly lost: number;
  /** Null if not counted. */
  readonly sentTwice: number | null;
}

export function reportCounts({ what, pairs, lost, sentTwice }: FaultCounts, more = ''): void {
  console.log(`${what}: pairs ${pairs}, lost ${lost}, sent twice ${sentTwice ?? '-'}${more}`);
  const file = process.env.FAULT_COUNTS;
  if (file) appendFileSync(file, `| ${what} | ${pairs} | ${lost} | ${sentTwice ?? ''} |\n`);
}
