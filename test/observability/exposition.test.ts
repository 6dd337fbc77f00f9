/** The text of /metrics, to the byte. */
import { Exposition, type Metric, type Sample } from '../../src/observability/exposition.js';

const counted = (metric: Metric<null>) => new Exposition<'of', null>({ of: metric });

test('a counter has its help, its type, and a series for each of its labels', () => {
  const exposition = counted({ type: 'counter', labels: ['to', 'by'], says: 'What was `sent`.' });
  exposition.count('of', 'a', 'b');
  exposition.count('of', 'quoted "c"', 'd\\e\nf').inc();
  expect(exposition.contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(exposition.text(null)).toBe(
    [
      '# HELP of What was sent.',
      '# TYPE of counter',
      'of{to="a",by="b"} 0',
      'of{to="quoted \\"c\\"",by="d\\\\e\\nf"} 1\n',
    ].join('\n'),
  );
});

test('a histogram has its buckets, its sum and its count', () => {
  const exposition = counted({ type: 'histogram', labels: [], says: 'a\\b\nc', bounds: [0.005, 1] });
  const took = exposition.distribution('of');
  for (const value of [0.005, 0.25, 3]) took.observe(value);
  expect(exposition.text(null)).toBe(
    [
      '# HELP of a\\\\b\\nc',
      '# TYPE of histogram',
      'of_bucket{le="0.005"} 1',
      'of_bucket{le="1"} 2',
      'of_bucket{le="+Inf"} 3',
      'of_sum 3.255',
      'of_count 3\n',
    ].join('\n'),
  );
});

test('what is looked at has no sample twice, and nothing of a look that fails', () => {
  const samples: Sample[] = [
    [1, 'a'],
    [Number.POSITIVE_INFINITY, 'b'],
    [Number.NEGATIVE_INFINITY, 'c'],
    [2, 'a'],
  ];
  const broken = (): Sample[] => {
    throw new Error('planted');
  };
  const exposition = new Exposition<string, readonly Sample[]>({
    now: { type: 'gauge', labels: ['of'], says: 'Now.', look: (given) => given },
    broken_total: { type: 'counter', labels: [], says: 'Broken.', look: broken },
    grown_total: { type: 'counter', labels: [], says: 'Grown.', look: () => [[1e21]] },
  });
  expect(exposition.text(samples).split('\n')).toEqual([
    ...['# HELP now Now.', '# TYPE now gauge', 'now{of="a"} 2', 'now{of="b"} +Inf', 'now{of="c"} -Inf', ''],
    ...['# HELP broken_total Broken.', '# TYPE broken_total counter', ''],
    ...['# HELP grown_total Grown.', '# TYPE grown_total counter', 'grown_total 1e+21', ''],
  ]);
});
