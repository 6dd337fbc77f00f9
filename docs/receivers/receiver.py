import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["WEBHOOK_SECRET"])  # whsec_...
seen = set()  # with several processes: a unique key in your database


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        # The bytes as they came: JSON that was parsed and written again is not signed.
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            webhook.verify(body, dict(self.headers.items()))
        except (WebhookVerificationError, ValueError):  # ValueError: a signature that is no base64, a body that is no JSON
            return self.answer(401)
        webhook_id = self.headers["webhook-id"]
        if webhook_id not in seen:
            print(webhook_id, body.decode(), flush=True)  # keep it, and work on it after the answer
        seen.add(webhook_id)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        if status != 204:
            self.send_header("content-length", "0")
        self.end_headers()


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
