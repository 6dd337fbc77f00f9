/** Random complete histories, each with one planted loss that the audit must report. COMPLETENESS_RUNS makes it longer. */
import fc from 'fast-check';
import { inFull } from '../runner/thorough.js';
import { history } from '../support/generators/payment-histories.js';
import { HistoryTopics } from '../support/scenes/history-topics.js';
import { LOSSES } from '../support/scenes/planted-losses.js';

const RUNS = Number(process.env.COMPLETENESS_RUNS ?? inFull(300, 100, 10_000));

test.each(Object.entries(LOSSES))('%s: reported', async (_, { plant, isReported }) => {
  let planted = 0;
  await fc.assert(
    fc.asyncProperty(history, fc.nat(), async (given, random) => {
      const topics = new HistoryTopics(given);
      const loss = plant({ given, topics, pick: (all) => all[random % all.length] });
      if (!loss) return;
      planted += 1;
      const report = await topics.topics.audit();
      expect(isReported(report, loss)).toBe(true);
    }),
    { numRuns: RUNS },
  );
  // Otherwise the property could not fail.
  expect(planted).toBeGreaterThan(0);
});
