#!/bin/sh
# Packs what is committed in a fresh clone, installs the package in an empty folder as a user would, and runs it there. Run by
# make, from the root.
set -eu

root=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
git clone --quiet --depth 1 "file://$(git rev-parse --show-toplevel)" "$folder/clone"
cd "$folder/clone"
# What npm ci made of the same lock file here; on Node.js 20 it compiles SQLite for two minutes.
if cmp -s package-lock.json "$root/package-lock.json"; then
  cp -R "$root/node_modules" .
else
  npm ci --silent --no-audit --no-fund
fi
# npm pack builds first; what tsc says of an error is on stdout.
npm pack --silent --pack-destination "$folder" >"$folder/said" || { cat "$folder/said" >&2; exit 1; }
package=$(tail -n 1 "$folder/said")
mkdir "$folder/empty"
cd "$folder/empty"
npm install --silent --no-audit --no-fund "../$package"
version=$(npx --no-install account-webhooks --version)
case $package in
  *"-$version.tgz") ;;
  *) echo "the installed command says that it is $version, but $package was installed" >&2; exit 1 ;;
esac
npx --no-install account-webhooks --help >/dev/null
npx --no-install account-webhooks demo
echo "$package of a fresh clone installs and runs on Node.js $(node --version) with npm $(npm --version)."
