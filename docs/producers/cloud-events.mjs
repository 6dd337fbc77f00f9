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
  const { body } = await emit(event.cloneWith({ id: `${event.id}-${mode}` }), {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const answer = JSON.parse(body);
  if (!answer.success) throw new Error(`not published: ${answer.message}`);
}
