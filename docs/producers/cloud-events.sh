id=$1
publish() {
  kcat -P -b "$BROKERS" -t "$TOPIC" -k 42 \
    -X acks=all -X enable.idempotence=true -X compression.codec="$CODEC" -X topic.partitioner=murmur2_random "$@"
}

# Structured mode: attributes and data in the value.
attributes='"specversion":"1.0","id":"'$id'-structured","source":"/payments","type":"com.example.payments.cash_in"'
printf '%s\n' "{$attributes,"'"time":"2026-11-21T09:00:00Z","data":{"accountId":42,"amount":"10.00"}}' |
  publish -H 'content-type=application/cloudevents+json'

# Binary mode: attributes in headers, data in the value.
printf '%s\n' '{"amount":"10.00"}' |
  publish -H ce_specversion=1.0 -H "ce_id=$id-binary" -H ce_source=/payments -H ce_type=com.example.payments.cash_in \
    -H ce_time=2026-11-21T09:00:00Z -H ce_accountid=42 -H content-type=application/json
