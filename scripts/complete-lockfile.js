/**
 * Adds to package-lock.json what a partial registry leaves out of it: the optional packages for other platforms
 * (darwin, win32, musl ...). npm drops from the lock what its registry does not serve, and `npm ci` then refuses that
 * lock, on every machine. Run it after a change of the dependencies behind such a registry; it adds nothing twice.
 *
 * An added entry has the exact version its parent asks for, and no integrity: there was no package to hash.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const OS = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];
const CPU = ['arm', 'arm64', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'x64'];
const LIBC = { gnu: 'glibc', gnueabihf: 'glibc', musl: 'musl', musleabihf: 'musl' };
const EXACT = /^\d+\.\d+\.\d+$/;

/** @returns the lock entry of a package whose name ends in its platform, as in core-linux-arm64-musl, else undefined */
function platformEntry(name, version, dev) {
  const words = name.split(/[-/]/);
  const os = words.find((word) => OS.includes(word));
  const cpu = words.find((word) => CPU.includes(word));
  if (os === undefined || cpu === undefined || !EXACT.test(version)) return undefined;
  const libc = os === 'linux' ? LIBC[words.at(-1)] : undefined;
  return { version, cpu: [cpu], ...(dev && { dev }), ...(libc && { libc: [libc] }), optional: true, os: [os] };
}

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));
const added = [];
for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const place = `node_modules/${name}`;
    if (place in lock.packages || `${path}/${place}` in lock.packages) continue;
    const missing = platformEntry(name, version, entry.dev);
    if (missing === undefined) throw new Error(`${name}@${version} is not in the lock, and its name tells no platform`);
    lock.packages[place] = missing;
    added.push(`${name}@${version}`);
  }
}
if (added.length > 0) {
  const byPath = Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
  lock.packages = Object.fromEntries(byPath);
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
}
process.stdout.write(`${added.length} added to package-lock.json\n${added.map((line) => `  ${line}\n`).join('')}`);
