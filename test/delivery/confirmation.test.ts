import { Confirmation } from '../../src/delivery/confirmation.js';
import { eventually } from '../support/clocks/eventually.js';

/** The store's heads, which the test answers by hand. */
class Heads {
  readonly asked: ((error?: Error) => void)[] = [];
  readonly stopping = new AbortController();
  now = 0;
  readonly confirmation = new Confirmation(
    () => this.#ask(),
    this.stopping.signal,
    () => this.now,
  );

  /** In order of the questions: 'open', or how each ended. */
  ask(): { ended: string } {
    const question = { ended: 'open' };
    this.confirmation.confirmed().then(
      () => {
        question.ended = 'confirmed';
      },
      () => {
        question.ended = 'rejected';
      },
    );
    return question;
  }

  #ask(): Promise<void> {
    return new Promise((fulfil, reject) => {
      this.asked.push((error) => (error ? reject(error) : fulfil()));
      this.stopping.signal.addEventListener('abort', reject);
    });
  }
}

let heads: Heads;
beforeEach(() => {
  heads = new Heads();
});
afterEach(() => heads.stopping.abort());

describe('a confirmation', () => {
  test('one head answers all that asked before it', async () => {
    const questions = [heads.ask(), heads.ask(), heads.ask()];
    await eventually(() => heads.asked.length === 1);
    heads.asked[0]?.();
    await eventually(() => questions.every(({ ended }) => ended === 'confirmed'));
    expect(heads.asked).toHaveLength(1);
  });

  test('a head that was asked for before the question does not answer it', async () => {
    const early = heads.ask();
    await eventually(() => heads.asked.length === 1);
    const late = heads.ask();
    heads.asked[0]?.();
    await eventually(() => early.ended === 'confirmed' && heads.asked.length === 2);
    expect(late.ended).toBe('open');
    heads.asked[1]?.();
    await eventually(() => late.ended === 'confirmed');
  });

  test('a store that is away is asked again', async () => {
    const question = heads.ask();
    await eventually(() => heads.asked.length === 1);
    heads.asked[0]?.(new Error('the store is away'));
    await eventually(() => heads.asked.length === 2);
    heads.now = 29_990;
    expect([question.ended, heads.confirmation.waitingMs]).toEqual(['open', 29_990]);
    heads.asked[1]?.();
    await eventually(() => question.ended === 'confirmed');
    expect(heads.confirmation.waitingMs).toBe(0);
  });
});
