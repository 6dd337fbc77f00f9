/** What test/runner makes of test files that are planted for it. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { patience } from '../runner/patience.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const JEST = [
  ...['node_modules/jest/bin/jest.js', '--json', '--reporters=default', '--selectProjects=planted'],
  '--maxWorkers=1', // one file after the other, in one process
  '--testEnvironmentOptions={"leakPatienceMs":500}',
];

/** Below a test's own timeout: a jest that hangs is ended, not left running. */
const HANGS_MS = Math.ceil(90_000 * patience());

interface FileResult {
  readonly name: string;
  readonly status: string;
  readonly message: string;
}

let results: readonly FileResult[] = [];

function runPlanted(): Promise<string> {
  const options = { cwd: ROOT, env: { ...process.env, PLANTED: '1' }, timeout: HANGS_MS };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, JEST, options, (error, stdout) => {
      // Jest's exit code 1 says that tests failed, as they should here.
      if (error?.code === 1) resolve(stdout);
      else reject(error ?? new Error('no planted leak was found'));
    });
  });
}

function resultOf(planted: string): FileResult {
  const found = results.find(({ name }) => name.endsWith(`/${planted}.planted.ts`));
  if (found === undefined) throw new Error(`jest did not run ${planted}`);
  return found;
}

beforeAll(async () => {
  results = JSON.parse(await runPlanted()).testResults;
});

describe('the leak guard', () => {
  test.each([
    ['leaves-a-socket', 'TCPSocketWrap; ports: .*\\d+ to \\d+'],
    ...(process.platform === 'linux' ? [['leaves-a-file', 'leaves-a-file.planted.ts'] as const] : []),
  ])('fails the file that %s, and names it', (planted, name) => {
    const { status, message } = resultOf(planted);
    expect(status).toBe('failed');
    expect(message).toMatch(new RegExp(`This test file left open: .*${name}`));
  });

  test('passes the file that leaves nothing', () => {
    expect(resultOf('leaves-nothing')).toMatchObject({ status: 'passed', message: '' });
  });
});

describe('a test', () => {
  test.each([
    ['fails, with its line in TypeScript', /\bfails\n.*Received: 1\n.*at .*fails\.planted\.ts:12:43/s],
    ['hangs', /\bhangs\n.*Exceeded timeout of \d+ ms.*fails\.planted\.ts:14:1/s],
    ['rejects unnoticed', /\brejects unnoticed\n.*nobody looked/s],
  ])('that %s', (_, report) => {
    const { status, message } = resultOf('fails');
    expect(status).toBe('failed');
    expect(message).toMatch(report);
  });
});
