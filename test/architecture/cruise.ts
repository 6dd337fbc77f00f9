import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DEPCRUISE = `${ROOT}node_modules/dependency-cruiser/bin/dependency-cruise.mjs`;
const CONFIG = `${ROOT}.dependency-cruiser.cjs`;

export interface Violation {
  readonly from: string;
  readonly to: string;
  readonly rule: { readonly name: string };
}

export interface Cruise {
  /** How many imports were seen. */
  readonly imports: number;
  readonly violations: readonly Violation[];
}

/** Holds the tree in `directory`, its src/ and projections/, against the rules of this repository. */
export function cruise(directory: string): Promise<Cruise> {
  const args = [DEPCRUISE, '--config', CONFIG, '--output-type', 'json', 'src', 'projections'];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: directory, maxBuffer: 64 * 2 ** 20 }, (error, stdout, stderr) => {
      if (error !== null) return reject(new Error(`dependency-cruiser failed: ${stderr}`));
      const { summary } = JSON.parse(stdout);
      resolve({ imports: summary.totalDependenciesCruised, violations: summary.violations });
    });
  });
}
