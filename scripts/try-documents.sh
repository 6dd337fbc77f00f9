#!/bin/sh
# Runs the receivers of docs/receivers.md, or the producers of docs/payment-events.md, with the libraries
# that the pages name: try-documents.sh receivers|producers. The libraries are fetched into a temporary folder. Run by make, from the root.
set -eu

RECEIVERS_PYTHON=standardwebhooks==1.1.0
RECEIVERS_GO=github.com/standard-webhooks/standard-webhooks/libraries@v0.0.1
RECEIVERS_JAVA=com.standardwebhooks:standardwebhooks:1.1.1
PRODUCERS_PYTHON='confluent-kafka==2.16.1 cloudevents==2.2.0 requests'
PRODUCERS_GO=github.com/cloudevents/sdk-go/v2@v2.16.2
PRODUCERS_JS=cloudevents@10.0.0

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT

has() {
  for tool in "$@"; do
    command -v "$tool" >/dev/null 2>&1 || { echo "SKIPPED: $tool IS MISSING" >&2; return 1; }
  done
}

python_libraries() {
  has python3 || return 0
  python3 -m venv "$folder/python"
  "$folder/python/bin/pip" install --quiet "$@"
}

# The source, and the library it needs if it needs one; the program is $folder/go/NAME.
go_program() {
  has go || return 0
  name=$(basename "$1" .go)
  mkdir -p "$folder/go" "$folder/go-$name"
  cp "$1" "$folder/go-$name"
  (cd "$folder/go-$name" && go mod init "$name" && { [ -z "${2:-}" ] || go get "$2"; } && go build -o "../go/$name" .)
}

case $1 in
  receivers)
    # Without the Kafka that tests share.
    export KAFKA_BROKERS=127.0.0.1:1
    python_libraries "$RECEIVERS_PYTHON"
    go_program docs/receivers/receiver.go "$RECEIVERS_GO"
    if has java mvn; then
      mvn --quiet --batch-mode dependency:copy "-Dartifact=$RECEIVERS_JAVA" "-DoutputDirectory=$folder/java"
    fi
    ;;
  producers)
    # Kafka itself needs Java and Maven; its client is among Kafka's own jars.
    has java mvn
    mvn --quiet --batch-mode -f test/services/kafka/pom.xml dependency:copy-dependencies "-DoutputDirectory=$folder/java"
    # shellcheck disable=SC2086 # several libraries
    python_libraries $PRODUCERS_PYTHON
    go_program docs/producers/http-producer.go
    go_program docs/producers/cloud-events.go "$PRODUCERS_GO"
    mkdir "$folder/cloud-events"
    cp docs/producers/cloud-events.mjs "$folder/cloud-events"
    npm install --silent --no-audit --no-fund --prefix "$folder/cloud-events" "$PRODUCERS_JS"
    if has kcat; then mkdir "$folder/kcat"; fi
    ;;
esac
DOCUMENT_LIBRARIES=$folder npm test --silent -- "test/e2e/.*$1.test.ts" --verbose
