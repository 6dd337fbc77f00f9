/** English, of dialogs that are loaded when they open: no screen loads it. */
export const en = {
  cancelling: {
    title: 'Cancel this delivery?',
    explained: '1 delivery ends as cancelled: no further attempt is made. You can still resend it.',
    titleAgain: 'Cancel this attempt?',
    explainedAgain: 'The attempt that was asked for is not made. The delivery is again what it was before.',
    cancelAgain: 'Cancel attempt',
    doneAgain: 'The attempt is cancelled.',
    keep: 'Keep waiting',
    cancel: 'Cancel delivery',
    done: 'The delivery is cancelled.',
    failed: 'The delivery could not be cancelled.',
  },
  resendingDelivered: {
    title: 'Resend this delivery?',
    explained: 'It was delivered already: the receiver gets it again, under the same webhook-id.',
  },
  resendingSelected: {
    title: (count: number) => (count === 1 ? 'Resend 1 delivery?' : `Resend ${count} deliveries?`),
    explained:
      'Each gets one more attempt, under its webhook-id. Receivers that already took one can recognize it by that id.',
    failing: 'Where a URL is failing, the attempt follows as soon as the URL is tried again.',
    sending: (at: number, count: number) => `Sending ${at} of ${count}`,
    done: (count: number) => (count === 1 ? '1 delivery is on its way.' : `${count} deliveries are on their way.`),
    someFailed: (failed: number, count: number) => `${failed} of ${count} could not be resent.`,
  },
  recover: {
    title: 'Recover deliveries',
    explained: 'Sends again what this URL did not accept, oldest first, each once.',
    since: 'Published since',
    sinceHint: 'Empty: all that is kept',
    sinceLastSuccess: 'Since its last success',
    until: 'Until',
    untilHint: 'Empty: now',
    which: 'Which',
    included: {
      exhausted: { name: 'Given up', hint: 'no further attempt is planned' },
      retrying: { name: 'Waiting', hint: 'instead of their next attempt' },
      held: { name: 'Held', hint: 'published while the URL was off' },
    },
    rate: 'Speed',
    preview: {
      none: 'Choose at least one kind.',
      counting: 'Counting…',
      failed: 'The deliveries could not be counted.',
      again: 'Try again',
      nothing: 'Nothing to send in this period.',
      takes: (rate: number, time: string) => `at ${rate} per second, about ${time}.`,
    },
    start: (count: number) => (count > 0 ? `Send ${count.toLocaleString('en')}` : 'Send'),
    failed: 'The recovery could not be changed.',
    left: (time: string) => `about ${time} left`,
    delivered: 'Delivered',
    failedCount: 'Failed again',
    lastFailed: 'Its last attempt failed:',
    testFirst: 'Go to its page to test it',
    passedBy: 'Could not be sent',
    awaited: 'No answer yet',
    awaitedExplained: (count: number, shown: string) =>
      `${shown} without an answer yet: while the URL is failing, ${count === 1 ? 'it waits' : 'they wait'} until it is tried again.`,
    mayClose: 'Sending continues if you close this dialog or the page.',
    stoppedExplained: 'What was not sent stays as it was. You can recover the rest later.',
    doneExplained: 'What failed again is kept: fix the receiver, then recover once more.',
    stop: 'Stop',
  },
};

export type DialogTexts = typeof en;
