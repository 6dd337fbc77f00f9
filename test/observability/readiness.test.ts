import { Readiness } from '../../src/observability/readiness.js';

test('ready once no part that is needed has a reason not to be; each says how it is', () => {
  const readiness = new Readiness();
  let why: string | null = 'no answer yet';
  readiness.part('event store', () => why);
  readiness.part('deliveries view', () => 'it is late', { needed: false });
  const late = { part: 'deliveries view', ready: false, needed: false, why: 'it is late' };
  expect(readiness.report()).toEqual({
    ready: false,
    body: {
      status: 'not ready',
      waitingFor: ['event store'],
      parts: [{ part: 'event store', ready: false, needed: true, why: 'no answer yet' }, late],
    },
  });
  why = null;
  expect(readiness.report()).toEqual({
    ready: true,
    body: { status: 'ready', parts: [{ part: 'event store', ready: true, needed: true }, late] },
  });
});

test('a part may be needed for a time', () => {
  const readiness = new Readiness();
  let isNeeded = true;
  readiness.part('issuer keys', () => 'it is away', { needed: () => isNeeded });
  expect(readiness.report()).toMatchObject({ ready: false, body: { waitingFor: ['issuer keys'] } });
  isNeeded = false;
  expect(readiness.report()).toMatchObject({ ready: true, body: { parts: [{ ready: false, needed: false }] } });
});

test('while it stops it is not ready, whatever the parts say', () => {
  const readiness = new Readiness();
  readiness.part('api', () => null);
  readiness.stopping();
  expect(readiness.report()).toMatchObject({ ready: false, body: { status: 'stopping', waitingFor: [] } });
});
