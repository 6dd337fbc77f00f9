import { spawn } from 'node:child_process';

test('leaves a child process', () => {
  // It ends with its standard input, so it does not outlive the run.
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] });
  expect(child.pid).toBeGreaterThan(0);
});
