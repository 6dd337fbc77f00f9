import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET); // whsec_...
const seen = new Set(); // with several processes: a unique key in your database

const server = createServer(async (request, response) => {
  try {
    const body = await buffer(request); // the bytes as they came: JSON that was parsed and written again is not signed
    webhook.verify(body, request.headers);
    const id = request.headers['webhook-id'];
    if (!seen.has(id)) console.log(id, body.toString()); // keep it, and work on it after the answer
    seen.add(id);
    response.writeHead(204).end();
  } catch {
    response.writeHead(401).end();
  }
});
server.listen(Number(process.env.PORT), '127.0.0.1');
