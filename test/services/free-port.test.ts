import { freePort } from './free-port.js';

test('a port that was given is not given again soon: its server may be away for a while', async () => {
  const given: number[] = [];
  while (given.length < 200) given.push(await freePort());
  expect(new Set(given).size).toBe(given.length);
});
