#!/bin/sh
# Runs the receivers of docs/receivers.md against deliveries of this service, with the libraries that the guide names.
# They are fetched into a temporary folder. Run by make, from the root. Those in Node.js and PHP need none
# and run always.
set -eu

PYTHON_LIBRARY=1.1.0
GO_LIBRARY=v0.0.1
JAVA_LIBRARY=1.1.1

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT

has() {
  for tool in "$@"; do
    command -v "$tool" >/dev/null 2>&1 || { echo "SKIPPED: $tool IS MISSING" >&2; return 1; }
  done
}

if has python3; then
  python3 -m venv "$folder/python"
  "$folder/python/bin/pip" install --quiet "standardwebhooks==$PYTHON_LIBRARY"
  python3 --version
fi
if has go; then
  mkdir "$folder/go"
  cp docs/receivers/receiver.go "$folder/go"
  (
    cd "$folder/go"
    go mod init receiver
    go get "github.com/standard-webhooks/standard-webhooks/libraries@$GO_LIBRARY"
    go build -o receiver .
  )
  go version
fi
if has java mvn; then
  mvn --quiet --batch-mode dependency:copy "-Dartifact=com.standardwebhooks:standardwebhooks:$JAVA_LIBRARY" \
    "-DoutputDirectory=$folder/java"
  java --version | head -n 1
fi
RECEIVER_LIBRARIES=$folder KAFKA_BROKERS=127.0.0.1:1 npm test --silent -- test/e2e/receivers.test.ts --verbose
