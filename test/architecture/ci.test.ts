/** The acceptance suite next to the checkout, as .ci/run calls it: a copy of .ci/run, with a `make` that does nothing. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { undoneAfterEach } from '../support/scenes/at-end.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';

const atEnd = undoneAfterEach();

/** @param suite the script `run` of the acceptance suite; null: there is no such folder */
function runCi(suite: string | null, mode = 0o755) {
  const { path, remove } = temporaryDirectory();
  atEnd(remove);
  const script = (folder: string, name: string, text: string, bits: number) => {
    mkdirSync(join(path, folder), { recursive: true });
    writeFileSync(join(path, folder, name), `#!/bin/sh\n${text}\n`, { mode: bits });
  };
  script('bin', 'make', 'echo "make $1"', 0o755);
  if (suite !== null) script('shared/acceptance', 'run', suite, mode);
  cpSync(join(import.meta.dirname, '../../.ci'), join(path, 'checkout/.ci'), { recursive: true });
  const { status, stdout, stderr } = spawnSync(join(path, 'checkout/.ci/run'), {
    encoding: 'utf8',
    // Set, so that nothing is installed.
    env: { PATH: `${join(path, 'bin')}:${process.env.PATH}`, CHROMIUM: 'set', KAFKA_BROKERS: 'set' },
  });
  return { status, lines: stdout.trim().split('\n'), stderr };
}

describe('the acceptance suite', () => {
  it('runs last', () => {
    expect(runCi('echo "acceptance $*"')).toEqual({
      status: 0,
      lines: ['make test-nightly', 'make test-all', 'acceptance --jobs 2'],
      stderr: '',
    });
  });

  it('fails CI if a case fails', () => {
    expect(runCi('exit 1').status).toBe(1);
  });

  it('fails CI, with its name, if it cannot be executed', () => {
    const { status, stderr } = runCi('exit 0', 0o644);
    expect(status).toBe(1);
    expect(stderr).toContain('shared/acceptance/run: Permission denied');
  });

  it('is optional', () => {
    expect(runCi(null)).toEqual({ status: 0, lines: ['make test-nightly', 'make test-all'], stderr: '' });
  });
});
