import json
import os
import sys

from confluent_kafka import Producer

producer = Producer({
    "bootstrap.servers": os.environ["BROKERS"],
    "compression.type": os.environ["CODEC"],  # none, gzip, snappy, lz4 or zstd
    "acks": "all",  # durable on every replica in sync
    "enable.idempotence": True,  # a retry of the client makes no second record
    "partitioner": "murmur2_random",  # as the Java client: one partition per account, whatever the client
})
event_id = sys.argv[1]
event = {
    "id": event_id,
    "type": "cash_in",
    "accountId": 42,
    "timestamp": "2026-11-21T09:00:00Z",
    "data": {"amount": "10.00"},  # amounts as text: a float loses digits
}
failures = []
producer.produce(
    os.environ["TOPIC"],
    key=str(event["accountId"]),
    value=json.dumps(event).encode(),
    headers={"x-correlation-id": event_id},  # optional
    on_delivery=lambda error, _record: failures.append(error) if error else None,
)
unsent = producer.flush(120)
if failures or unsent:
    # The record may not be durable: publish the event again, with the same id.
    sys.exit(f"{event_id} was not published: {failures or 'no answer within 120 s'}")
