/** Random histories of a service that keeps its promises. COMPLETENESS_RUNS makes it longer. */
import fc from 'fast-check';
import { inFull } from '../runner/thorough.js';
import { history } from '../support/generators/payment-histories.js';
import { HistoryTopics } from '../support/scenes/history-topics.js';
import { isAbout, routedToAll } from '../support/scenes/planted-losses.js';

const RUNS = Number(process.env.COMPLETENESS_RUNS ?? inFull(600, 300, 10_000));

/** How much has happened when it begins, in percent; and how many facts more become durable before each look. */
const pace = fc.record({
  before: fc.nat(100),
  steps: fc.array(fc.oneof(fc.constant(0), fc.nat(4)), { minLength: 20 }),
  /** Whether retention removes what is done before that look. */
  cuts: fc.array(fc.boolean(), { minLength: 20 }),
});

/** Retention beside it: what is done may be gone, and then the audit does not have the whole period, and says so. */
const EXPIRED = 'entries name records of the period that it does not have';

test('a service that works, at any moment and while topics are read, has lost nothing', async () => {
  const seen = { waiting: 0, retrying: 0, delivered: 0 };
  await fc.assert(
    fc.asyncProperty(history, pace, fc.boolean(), async (given, { before, ...drawn }, isExpiring) => {
      const [steps, cuts] = [[...drawn.steps], isExpiring ? [...drawn.cuts] : []];
      const written = new HistoryTopics(given);
      let begun = Math.floor((before * given.facts.length) / 100);
      written.write(given.facts.slice(0, begun));
      const goOn = () => {
        const end = begun + (steps.shift() ?? 0);
        written.write(given.facts.slice(begun, end));
        begun = end;
        if (cuts.shift()) written.expire();
      };
      written.topics.beforeReading = goOn;
      written.topics.beforeAsking = goOn;
      const report = await written.topics.audit();
      const { waiting, retrying, delivered, unanswered, unexpected } = report.counts;
      const lost = report.lost.filter(({ why }) => !isExpiring || why !== EXPIRED);
      expect({ unanswered, unexpected, lost }).toEqual({ unanswered: 0, unexpected: 0, lost: [] });
      if (waiting) seen.waiting += 1;
      if (Object.keys(retrying).length > 0) seen.retrying += 1;
      if (delivered) seen.delivered += 1;
    }),
    { numRuns: RUNS },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
});

test('a delivery of which all that is written was erased is named, and no other', async () => {
  let erased = 0;
  await fc.assert(
    fc.asyncProperty(history, fc.nat(), async (given, drawn) => {
      const all = routedToAll(given);
      const one = all[drawn % all.length];
      if (!one) return;
      const topics = new HistoryTopics(given);
      topics.write(given.facts);
      topics.erase(given.facts.filter((fact) => isAbout(one, fact)));
      const found = [...(await topics.topics.audit()).found('unanswered')];
      const { topic, partition, offset } = topics.recordOf(one.p);
      expect(found).toMatchObject([{ source: `${topic}/${partition}/${offset}`, webhookId: one.webhookId }]);
      erased += 1;
    }),
    { numRuns: RUNS },
  );
  expect(erased).toBeGreaterThan(RUNS / 4);
});
