#!/bin/sh
# Installs the packages of package-lock.json, and says what is missing where that fails. Run by make, from the root, again for a
# Node with another binary interface: SQLite's native module fits one.
set -u

fail() {
  printf '%s\n' '' "$@" 'Then run make again.' >&2
  exit 1
}

command -v npm >/dev/null 2>&1 ||
  fail 'Install Node.js 20.19 or later, with npm (https://nodejs.org, or your package manager).'
node -e 'const [major, minor] = process.versions.node.split(".").map(Number);
  process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)' ||
  fail "Node.js $(node --version) is too old: install version 20.19 or later (https://nodejs.org)."

# The packages of src/adapters/sqlite/open-file.ts. From Node.js 22 on SQLite has binaries, and scripts would compile nothing that is used.
if [ "$(node -p 'parseInt(process.versions.node)')" -ge 22 ]; then
  driver=better-sqlite3 scripts=--ignore-scripts
else
  driver=better-sqlite3-node20 scripts=--foreground-scripts
fi

echo 'Installing the packages (npm ci). The first time takes up to two minutes: on Node.js 20 SQLite may be compiled.'
# Compilers warn at length, also where all goes well.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
npm ci --no-audit --no-fund $scripts >"$log" 2>&1 && node -e "require('$driver')(':memory:').close()" >>"$log" 2>&1 && exit
cat "$log" >&2
fail 'The packages could not be installed: the reason stands above.' \
  'A package registry must be reachable (npm config get registry). On Node.js 20 SQLite may have to be compiled: that needs python3,' \
  'make and g++ (on Debian or Ubuntu: apt-get install build-essential python3; on macOS: xcode-select --install).'
