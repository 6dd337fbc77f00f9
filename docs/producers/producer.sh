id=$1
event='{"id":"'$id'","type":"cash_in","accountId":42,"timestamp":"2026-11-21T09:00:00Z","data":{"amount":"10.00"}}'

# -k is the key: the accountId. compression.codec: none, gzip, snappy, lz4 or zstd. acks=all: durable on every replica
# in sync. The partitioner is that of the Java client: one partition per account, whatever the client.
printf '%s\n' "$event" | kcat -P -b "$BROKERS" -t "$TOPIC" -k 42 -H "x-correlation-id=$id" \
  -X acks=all -X enable.idempotence=true -X compression.codec="$CODEC" -X topic.partitioner=murmur2_random
