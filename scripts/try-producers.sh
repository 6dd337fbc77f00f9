#!/bin/sh
# Runs the producers of docs/payment-events.md against a service and a Kafka of their own, with the libraries that the
# page names. They are fetched into a temporary folder. Run by make, from the root.
set -eu

PYTHON_LIBRARY=2.16.1
JAVA_LIBRARY=4.3.1
CLOUD_EVENTS_JS_LIBRARY=10.0.0
CLOUD_EVENTS_PYTHON_LIBRARY=2.2.0
CLOUD_EVENTS_GO_LIBRARY=v2.16.2

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT

has() {
  for tool in "$@"; do
    command -v "$tool" >/dev/null 2>&1 || { echo "SKIPPED: $tool IS MISSING" >&2; return 1; }
  done
}

has java mvn || { echo 'Kafka itself needs Java 17 and Maven: on Debian, apt-get install default-jdk maven' >&2; exit 1; }
cat >"$folder/pom.xml" <<POM
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>producers</groupId><artifactId>producers</artifactId><version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId><artifactId>kafka-clients</artifactId><version>$JAVA_LIBRARY</version>
    </dependency>
  </dependencies>
</project>
POM
mvn --quiet --batch-mode -f "$folder/pom.xml" dependency:copy-dependencies -DincludeScope=runtime "-DoutputDirectory=$folder/java"
java --version | head -n 1
if has python3; then
  python3 -m venv "$folder/python"
  "$folder/python/bin/pip" install --quiet "confluent-kafka==$PYTHON_LIBRARY" \
    "cloudevents==$CLOUD_EVENTS_PYTHON_LIBRARY" requests
  python3 --version
fi
mkdir "$folder/cloud-events"
cp docs/producers/cloud-events.mjs "$folder/cloud-events"
npm install --silent --no-audit --no-fund --prefix "$folder/cloud-events" "cloudevents@$CLOUD_EVENTS_JS_LIBRARY"
if has go; then
  for name in http-producer cloud-events; do
    mkdir -p "$folder/go-$name" "$folder/go"
    cp "docs/producers/$name.go" "$folder/go-$name"
    (
      cd "$folder/go-$name"
      go mod init producer
      [ "$name" = http-producer ] || go get "github.com/cloudevents/sdk-go/v2@$CLOUD_EVENTS_GO_LIBRARY"
      go build -o "$folder/go/$name" .
    )
  done
  go version
fi
if has php; then php --version | head -n 1; else echo 'on Debian: apt-get install php-cli php-curl' >&2; fi
if has kcat; then
  mkdir "$folder/kcat"
  kcat -V | grep Version
else
  echo 'on Debian: apt-get install kcat' >&2
fi
# The Kafka that all tests share is not needed: this test starts its own.
PRODUCER_LIBRARIES=$folder KAFKA_BROKERS=127.0.0.1:1 npm test --silent -- test/e2e/producers.test.ts test/e2e/http-producers.test.ts --verbose
