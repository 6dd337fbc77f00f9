import { binaryHeaders } from '../../../src/http/payment-events/event-values.js';

it.each([
  ['plain', 'plain'],
  ['"quoted"', 'quoted'],
  ['"a \\"b\\" \\\\c"%20', '"a \\"b\\" \\\\c" '],
  ['"a \\"b\\" \\\\c%22"', 'a "b" \\c"'],
  ['"one" "two"', '"one" "two"'],
  ['"no end\\"', '"no end\\"'],
  ['50%25 %2541', '50% %41'],
])('an attribute in the header %j is %j', (value, expected) => {
  const [header] = binaryHeaders({ rawHeaders: ['ce-id', value], headers: {} });
  expect(String(header?.[1])).toBe(expected);
});
