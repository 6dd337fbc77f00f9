import Sequencer from '@jest/test-sequencer';

const PROJECTS = ['faults', 'e2e', 'contract', 'unit'];

/** Those that take longest begin first: in a fresh clone jest knows no durations, and a long one at the end is waited for. */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const place = ({ context }) => PROJECTS.indexOf(context.config.displayName?.name ?? 'unit');
    return super.sort(tests).toSorted((one, other) => place(one) - place(other));
  }
}
