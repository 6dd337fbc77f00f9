/** Preloaded into a service under test: joins the cgroup of the benchmark before the program is loaded. */
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

if (isMainThread && process.argv[2] === 'serve') writeFileSync(process.env.BENCH_CGROUP_PROCS, String(process.pid));
