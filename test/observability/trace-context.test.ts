import fc from 'fast-check';
import { parseTraceContext, traceparentOf } from '../../src/observability/tracing.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const SENT = `00-${TRACE}-${SPAN}-01`;

describe('traceparent', () => {
  test.each([
    ['sampled', SENT, 1],
    ['not sampled', `00-${TRACE}-${SPAN}-00`, 0],
    ['flags that nobody knows yet are left out', `00-${TRACE}-${SPAN}-ff`, 3],
    ['a later version', `01-${TRACE}-${SPAN}-01`, 1],
    ['a later version, of more fields', `cc-${TRACE}-${SPAN}-01-what-the-future.will be`, 1],
    ['a later version, whatever its further fields contain', `cc-${TRACE}-${SPAN}-01-a\nb`, 1],
  ])('is read: %s', (_, traceparent, flags) => {
    expect(parseTraceContext(traceparent)).toEqual({ traceId: TRACE, spanId: SPAN, flags, state: null });
  });

  test.each([
    ['none', undefined],
    ['version ff', `ff-${TRACE}-${SPAN}-01`],
    ['more fields in version 00', `${SENT}-00`],
    ['a later version whose fourth field is too long', `01-${TRACE}-${SPAN}-011`],
    ['no trace id', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['no span id', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['capitals', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['no hex', `00-${TRACE.replace('0', 'g')}-${SPAN}-01`],
    ['no flags', `00-${TRACE}-${SPAN}`],
    ['two of them', `${SENT}, ${SENT}`],
  ])('is ignored: %s', (_, traceparent) => {
    expect(parseTraceContext(traceparent, 'a=1')).toBeNull();
  });

  test('is written as it was read', () => {
    expect(traceparentOf(readAs(SENT))).toBe(SENT);
    expect(traceparentOf(readAs(`0a-${TRACE}-${SPAN}-f0-more`))).toBe(`00-${TRACE}-${SPAN}-00`);
  });
});

test.each([
  ['a=1 ,b/c=2,, x@y=3', 'a=1 ,b/c=2,, x@y=3'],
  ['a'.repeat(512), 'a'.repeat(512)],
  ['a'.repeat(513), null],
  ['a=é', null],
  ['', null],
])('tracestate %j is passed on as %j', (tracestate, state) => {
  expect(parseTraceContext(SENT, tracestate)).toMatchObject({ traceId: TRACE, state });
});

test('whatever is given, it never throws, and what it takes can be read again', () => {
  const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdefA-') });
  fc.assert(
    fc.property(fc.oneof(fc.string(), hex, fc.constant(SENT)), fc.string(), (traceparent, tracestate) => {
      const read = parseTraceContext(traceparent, tracestate);
      if (read) expect(parseTraceContext(traceparentOf(read), read.state ?? undefined)).toEqual(read);
    }),
  );
});

function readAs(traceparent: string, tracestate?: string) {
  const read = parseTraceContext(traceparent, tracestate);
  if (!read) throw new Error(`${traceparent} is not sound`);
  return read;
}
