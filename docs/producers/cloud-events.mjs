import { setTimeout as delay } from 'node:timers/promises';
import { CloudEvent, emitterFor, httpTransport, Mode } from 'cloudevents';

const { SERVICE, TOKEN } = process.env;
const event = new CloudEvent({
  id: process.argv[2],
  source: '/payments',
  type: 'com.example.payments.cash_in',
  accountid: '42',
  data: { amount: '10.00' },
});
for (const mode of [Mode.BINARY, Mode.STRUCTURED]) {
  const emit = emitterFor(httpTransport(`${SERVICE}/api/payment-events`), { mode });
  const send = () =>
    emit(event.cloneWith({ id: `${event.id}-${mode}` }), { headers: { authorization: `Bearer ${TOKEN}` } });
  let sent = await send();
  while (sent.headers['retry-after']) {
    // The service is in the way: send it again.
    await delay(1000 * sent.headers['retry-after']);
    sent = await send();
  }
  const answer = JSON.parse(sent.body);
  if (!answer.success) throw new Error(`not published: ${answer.message}`);
}
