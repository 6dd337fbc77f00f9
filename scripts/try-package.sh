#!/bin/sh
# Packs the service, installs the package in an empty folder as a user would, and runs it there. Run by make, from the root.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
package=$(npm pack --silent --pack-destination "$folder")
cd "$folder"
mkdir empty
cd empty
npm install --no-audit --no-fund "../$package"
version=$(npx --no-install account-webhooks --version)
case $package in
  *"-$version.tgz") ;;
  *) echo "the installed command says that it is $version, but $package was installed" >&2; exit 1 ;;
esac
npx --no-install account-webhooks --help >/dev/null
npx --no-install account-webhooks demo
echo "$package installs and runs on Node.js $(node --version) with npm $(npm --version)."
