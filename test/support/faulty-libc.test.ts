/** The clock of a process is shifted: without that, tests of it would see nothing. Those of a full disk count what it refused. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { FaultyLibc, withFaultyLibc } from './faulty-libc.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const DAY_MS = 86_400_000;
withFaultyLibc(() => {
  let libc: FaultyLibc;
  beforeEach(() => {
    libc = new FaultyLibc('the-word');
  });
  afterEach(() => {
    libc.close();
  });

  function node(program: string, ...args: string[]): string {
    const env = { PATH: process.env.PATH ?? '', ...libc.settings };
    const { stdout, stderr } = spawnSync(process.execPath, ['-e', program, ...args], { env, cwd: HERE });
    if (stderr.length > 0) throw new Error(String(stderr));
    return String(stdout).trim();
  }

  test.each([DAY_MS, -DAY_MS / 24])('the clock is shifted by %s ms, and timers are not', (ms) => {
    libc.shiftClock(ms);
    const program =
      'const at = performance.now(); setTimeout(() => console.log(Date.now(), performance.now() - at), 20)';
    const [now = 0, waited = 0] = node(program).split(' ').map(Number);
    expect(Math.abs(now - ms - Date.now())).toBeLessThan(60_000);
    expect(waited).toBeGreaterThan(10);
    expect(waited).toBeLessThan(60_000);
  });
});
