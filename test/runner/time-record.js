import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

const TICKS_A_SECOND = 100; // USER_HZ, what Linux counts in

/**
 * With TEST_TIMES=file each test file adds a line to that file when it ends: seconds of wall time, seconds of the
 * processor (its worker's and those of the worker's children that have ended; Linux only), and its path.
 * docs/decisions/0006 shows how to read them.
 */
export function startTimeRecord(testPath, rootDir) {
  const file = process.env.TEST_TIMES;
  if (file === undefined) return () => {};
  const started = performance.now();
  const cpuBefore = cpuSeconds();
  return () => {
    const wall = ((performance.now() - started) / 1_000).toFixed(1);
    const cpu = (cpuSeconds() - cpuBefore).toFixed(1);
    appendFileSync(file, `${wall}\t${cpu}\t${relative(rootDir, testPath)}\n`);
  };
}

function cpuSeconds() {
  const usage = process.cpuUsage();
  return (usage.user + usage.system) / 1_000_000 + endedChildrensSeconds();
}

/** Fields 16 and 17 of proc(5)'s stat; the name in field 2 may hold spaces, so they are counted from its bracket. */
function endedChildrensSeconds() {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[13]) + Number(fields[14])) / TICKS_A_SECOND;
  } catch {
    return 0;
  }
}
