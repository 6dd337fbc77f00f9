#!/bin/sh
# Installs the packages of package-lock.json, and says what is missing where that fails. Run by make, from the root.
set -u

LOCK=node_modules/.package-lock.json # npm writes it as its last step

fail() {
  echo >&2
  printf '%s\n' "$@" >&2
  exit 1
}

has() {
  command -v "$1" >/dev/null 2>&1
}

require_node() {
  has node || fail 'Node.js is missing: install version 20.19 or later (https://nodejs.org, or your package manager).'
  node -e 'const [major, minor] = process.versions.node.split(".").map(Number);
    process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)' ||
    fail "Node.js $(node --version) is too old: install version 20.19 or later (https://nodejs.org)."
  has npm || fail 'npm is missing: it comes with Node.js (https://nodejs.org); on Debian: apt-get install npm'
}

has_node_22() {
  node -e 'process.exit(parseInt(process.versions.node) >= 22 ? 0 : 1)'
}

# On Node.js 20 SQLite is compiled where no prebuilt binary can be had; from 22 on its package has binaries.
missing_tools() {
  missing=
  has_node_22 && return
  for tool in python3 make g++; do
    has "$tool" || missing="$missing $tool"
  done
  printf '%s' "$missing"
}

explain_failure() {
  missing=$(missing_tools)
  [ -z "$missing" ] || fail "$1 It may have to be compiled, and these are missing:$missing." \
    'On Debian or Ubuntu: apt-get install build-essential python3; on macOS: xcode-select --install' 'Then run make again.'
  fail "$1 The reason stands above; a package registry must be reachable (npm config get registry)." 'Then run make again.'
}

# What is compiled warns at length, which says nothing where all went well: npm's output is shown where it failed only.
quietly() {
  log=$(mktemp)
  "$@" >"$log" 2>&1
  status=$?
  [ $status -eq 0 ] || cat "$log" >&2
  rm -f "$log"
  return $status
}

up_to_date() {
  [ -f "$LOCK" ] && [ -z "$(find package-lock.json -newer "$LOCK")" ]
}

require_node

# The packages of src/adapters/sqlite/open-file.ts. On Node.js 20 npm leaves the first one out.
if has_node_22; then
  DRIVER=better-sqlite3
else
  DRIVER=better-sqlite3-node20
fi

sqlite_loads() {
  node -e "require('$DRIVER')(':memory:').close()" 2>/dev/null
}

# From Node.js 22 on, the scripts would compile nothing that is used.
install_packages() {
  if has_node_22; then
    quietly npm ci --no-audit --no-fund --ignore-scripts
  else
    quietly npm ci --no-audit --no-fund --foreground-scripts
  fi || explain_failure 'The packages could not be installed.'
}

if ! up_to_date; then
  echo 'Installing the packages (npm ci). The first time takes up to two minutes: on Node.js 20 SQLite may be compiled.'
  install_packages
fi
if ! sqlite_loads; then
  echo "SQLite's native module does not load in Node.js $(node --version): installing it again."
  if has_node_22; then
    install_packages
  else
    quietly npm rebuild $DRIVER --foreground-scripts || explain_failure "$DRIVER could not be built."
  fi
  sqlite_loads || explain_failure "$DRIVER was installed but does not load."
fi
