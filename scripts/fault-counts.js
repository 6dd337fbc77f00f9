/** Runs the fault suite, and writes what it counted into docs/reliability.md. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';

const DOCUMENT = new URL('../docs/reliability.md', import.meta.url);
const HEAD = '| fault | event x URL pairs | lost | sent twice |\n|---|---:|---:|---:|\n';

const folder = mkdtempSync(join(tmpdir(), 'fault-counts-'));
const file = join(folder, 'rows');
writeFileSync(file, '');
const env = { ...process.env, FAULT_COUNTS: file, TEST_ALL: '1' };
const { status } = spawnSync('npm', ['test', '--silent', '--', 'test/faults'], { env, stdio: 'inherit' });
const rows = readFileSync(file, 'utf8').split('\n').filter(Boolean).sort();
rmSync(folder, { recursive: true });
if (status === 0) write(rows);
process.exitCode = status ?? 1;

function write(rows) {
  const on = `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${process.platform}, ${cpus().length} cores`;
  const table = `${HEAD}${rows.join('\n')}\n`;
  const text = readFileSync(DOCUMENT, 'utf8');
  const part = `<!-- faults -->\nWritten by \`make faults\` (${on}):\n\n${table}<!-- /faults -->`;
  writeFileSync(
    DOCUMENT,
    text.replace(/<!-- faults -->.*<!-- \/faults -->/s, () => part),
  );
}
