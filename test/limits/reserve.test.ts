import { Reserve } from '../../src/limits/reserve.js';

describe('the reserve of a user', () => {
  let clock = 1_000_000.5;
  let reserve: Reserve;
  beforeEach(() => {
    reserve = new Reserve(() => clock);
  });

  /** How many of so many requests it lets through. */
  const drawn = (times: number, user: string, owner = 1) =>
    Array.from({ length: times }, () => reserve.requester(owner, user)).filter((one) => one.mayExceed()).length;

  it('is 60 requests a minute, whatever other users do', () => {
    for (let session = 0; session < 100; session += 1) drawn(100, `session ${session}`);
    expect([drawn(100, 'a'), drawn(100, 'b'), drawn(100, 'a', 2)]).toEqual([60, 60, 60]);
    clock += 1_000;
    expect(drawn(100, 'a')).toBe(1);
  });

  it('is drawn on once by a request, whatever the number of limits', () => {
    const request = reserve.requester(1, 'a');
    for (let limit = 0; limit < 100; limit += 1) expect(request.mayExceed()).toBe(true);
    expect(drawn(100, 'a')).toBe(59);
  });
});
