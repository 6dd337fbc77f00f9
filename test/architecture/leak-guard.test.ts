import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const JEST = [
  ...['node_modules/jest/bin/jest.js', '--json', '--reporters=default', '--selectProjects=planted'],
  '--testEnvironmentOptions={"leakPatienceMs":500}',
];

interface FileResult {
  readonly name: string;
  readonly status: string;
  readonly message: string;
}

let results: readonly FileResult[] = [];

function runPlanted(): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, JEST, { cwd: ROOT, env: { ...process.env, PLANTED: '1' } }, (error, stdout) => {
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

describe('the leak guard', () => {
  beforeAll(async () => {
    results = JSON.parse(await runPlanted()).testResults;
  }, 60_000);

  test.each([
    ['leaves-a-server', 'TCPServerWrap'],
    ['leaves-a-timer', 'Timeout'],
    ['leaves-a-child', 'ProcessWrap'],
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
