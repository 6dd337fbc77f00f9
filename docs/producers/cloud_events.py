import os
import sys
import time

import requests
from cloudevents.core.bindings.http import to_binary_event, to_structured_event
from cloudevents.core.v1.event import CloudEvent

for mode, encode in [("binary", to_binary_event), ("structured", to_structured_event)]:
    event = CloudEvent(
        {
            "id": f"{sys.argv[1]}-{mode}",
            "source": "/payments",
            "type": "com.example.payments.cash_in",
            "specversion": "1.0",
            "datacontenttype": "application/json",
            "accountid": "42",
        },
        {"amount": "10.00"},
    )
    message = encode(event)
    headers = {**message.headers, "authorization": f"Bearer {os.environ['TOKEN']}"}
    while True:
        answer = requests.post(os.environ["SERVICE"] + "/api/payment-events", message.body, headers=headers, timeout=30)
        if answer.status_code < 500 and answer.status_code != 429:
            break
        time.sleep(int(answer.headers.get("retry-after", 5)))  # the service is in the way: send it again
    if answer.status_code != 202:
        sys.exit(f"not published: {answer.text}")
