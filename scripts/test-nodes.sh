#!/bin/sh
# Runs `make test-all` on other versions of Node.js (NODE_VERSIONS="22 24 26"), one after the other, each in a copy of the
# tree with packages of its own: a native module fits one version. TEST_NODES_TARGET is what make runs there. Run by make,
# from the root. A version's folder in .nodes keeps what was fetched and built, and the log of its last run.
set -eu
unset MAKEFLAGS MAKELEVEL MFLAGS

ROOT=$(pwd)
PLATFORM=$(node -p '`${process.platform}-${process.arch}`')
TARGET=${TEST_NODES_TARGET:-test-all}

# The binary with its headers, as a package.
fetch_node() {
  npm install --silent --no-audit --no-fund --no-save --prefix "$1/fetched" "node-$PLATFORM@$2"
}

# As the tree stands, what is not committed too. node_modules stays for the next run.
copy_tree() {
  mkdir -p "$1"
  find "$1" -mindepth 1 -maxdepth 1 ! -name node_modules -exec rm -rf {} +
  git ls-files --cached --others --exclude-standard |
    while IFS= read -r file; do [ ! -e "$file" ] || echo "$file"; done |
    tar -cf - -T - | tar -xf - -C "$1"
  # Maven would fetch the same again.
  [ ! -d test/services/kafka/lib ] || cp -R test/services/kafka/lib "$1/test/services/kafka/"
}

# npm takes nodedir for a setting of node-gyp's alone: it is there while packages are installed, and not in the tests.
run_tests() (
  cd "$2"
  PATH=$1/bin:$PATH
  npm_config_nodedir=$1 sh scripts/install.sh
  make "$TARGET"
)

# What the tests count at their end; where it did not come to that, the last thing that was said.
counts() {
  grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$1" | tail -n 1 | grep . || tail -n 1 "$1"
}

test_on() {
  folder=$ROOT/.nodes/$1
  node=$folder/fetched/node_modules/node-$PLATFORM
  mkdir -p "$folder/fetched"
  rm -f "$folder/passed"
  fetch_node "$folder" "$1"
  copy_tree "$folder/tree"
  echo "Node.js $("$node/bin/node" --version): make $TARGET"
  { run_tests "$node" "$folder/tree" 2>&1 && touch "$folder/passed"; } | tee "$folder/log"
  version=$("$node/bin/node" --version)
  [ -e "$folder/passed" ] && result=passed || result=FAILED
  summary="$summary
Node.js $version: $result: $(counts "$folder/log")"
}

summary=
for version in ${NODE_VERSIONS:-22 24 26}; do
  test_on "$version"
done
echo "$summary"
case $summary in
  *': FAILED: '*) exit 1 ;;
esac
