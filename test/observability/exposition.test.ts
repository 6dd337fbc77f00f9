/** The text of /metrics, to the byte. */
import { Exposition } from '../../src/observability/exposition.js';

test('a counter has its help, its type, and a series for each of its labels', () => {
  const exposition = new Exposition();
  const counter = exposition.counter('sent_total', 'What was sent.', ['to', 'by']);
  counter('a', 'b');
  counter('quoted "c"', 'd\\e\nf').inc();
  expect(exposition.contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(exposition.text()).toBe(
    [
      '# HELP sent_total What was sent.',
      '# TYPE sent_total counter',
      'sent_total{to="a",by="b"} 0',
      'sent_total{to="quoted \\"c\\"",by="d\\\\e\\nf"} 1\n',
    ].join('\n'),
  );
});

test('a histogram has its buckets, its sum and its count', () => {
  const exposition = new Exposition();
  const took = exposition.histogram('took_seconds', 'a\\b\nc', [0.005, 1])();
  for (const value of [0.005, 0.25, 3]) took.observe(value);
  expect(exposition.text()).toBe(
    [
      '# HELP took_seconds a\\\\b\\nc',
      '# TYPE took_seconds histogram',
      'took_seconds_bucket{le="0.005"} 1',
      'took_seconds_bucket{le="1"} 2',
      'took_seconds_bucket{le="+Inf"} 3',
      'took_seconds_sum 3.255',
      'took_seconds_count 3\n',
    ].join('\n'),
  );
});

test('what is looked at: no sample twice, and nothing of a look that fails', () => {
  const exposition = new Exposition();
  const samples = [[1, 'a'] as const, [Number.POSITIVE_INFINITY, 'b'] as const, [2, 'a'] as const];
  exposition.gauge('now', 'Now.', ['of'], () => samples);
  exposition.growing('broken_total', 'Broken.', [], () => {
    throw new Error('planted');
  });
  exposition.growing('grown_total', 'Grown.', [], () => [[1e21]]);
  expect(exposition.text().split('\n')).toEqual([
    ...['# HELP now Now.', '# TYPE now gauge', 'now{of="a"} 2', 'now{of="b"} +Inf', ''],
    ...['# HELP broken_total Broken.', '# TYPE broken_total counter', ''],
    ...['# HELP grown_total Grown.', '# TYPE grown_total counter', 'grown_total 1e+21', ''],
  ]);
});
