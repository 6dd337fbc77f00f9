import base64
import json
import os
import sys
import time
import urllib.error
import urllib.request

SERVICE = os.environ["SERVICE"]


def post(path, headers, body):
    request = urllib.request.Request(SERVICE + path, body, headers)
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


def token():  # valid for an hour by default: keep it until then
    client = f"{os.environ['CLIENT_ID']}:{os.environ['CLIENT_SECRET']}"
    basic = base64.b64encode(client.encode()).decode()
    return post("/oauth/token", {"authorization": f"Basic {basic}"}, b"grant_type=client_credentials")["access_token"]


def publish(events):
    body = "\n".join(json.dumps(event) for event in events).encode()
    while True:
        try:
            headers = {"authorization": f"Bearer {token()}", "content-type": "application/x-ndjson"}
            return post("/api/payment-events", headers, body)
        except urllib.error.HTTPError as error:
            if error.code < 500 and error.code != 429:  # a 400 names every wrong event
                sys.exit(f"not published: {error.read().decode()}")
            # The service is in the way. Some of the events may be published: receivers drop duplicates by their webhook-id.
            time.sleep(int(error.headers.get("retry-after", 5)))


event_id = sys.argv[1]
event = {
    "id": event_id,
    "type": "cash_in",
    "accountId": 42,
    "timestamp": "2026-11-21T09:00:00Z",
    "data": {"amount": "10.00"},  # amounts as text: a float loses digits
}
print(publish([event]))
