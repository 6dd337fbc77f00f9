/** English. Others translate its keys. */
const many = (count: number, one: string, more: string) => (count === 1 ? one : more);

const ERRORS: Readonly<Record<string, string>> = {
  timeout: 'Timeout',
  'connection-refused': 'Refused',
  'connection-reset': 'Reset',
  tls: 'TLS error',
  host: 'Host not found',
  'invalid-response': 'Not HTTP',
  network: 'Network error',
};

const CAUSES: Readonly<Record<string, readonly [string, string]>> = {
  redirect: ['The receiver answers with a redirect.', 'Redirects are not followed: register the final URL.'],
  auth: [
    'The receiver refuses our request.',
    'Check which header or key it expects, and update the webhook’s headers.',
  ],
  missing: [
    'The receiver does not know this path.',
    'Check the path of the URL, or whether a release removed the route.',
  ],
  gone: ['The receiver asks us to stop (410 Gone).', 'Activate the webhook when the URL is back.'],
  busy: [
    'The receiver asks us to slow down.',
    'We wait as long as it says. Raise its limit, or answer first and work later.',
  ],
  refused: ['The receiver rejects the event.', 'Its answer usually says why: open a failed delivery to read it.'],
  broken: ['The receiver fails with an error of its own.', 'Look at its logs at the times of the attempts.'],
  timeout: ['The receiver does not answer in time.', 'Store the event, answer 204, and work afterwards.'],
  'connection-refused': ['Nothing listens at this address.', 'Check that the server runs, and its port and firewall.'],
  'connection-reset': [
    'The receiver closes the connection.',
    'Look for a proxy or load balancer that cuts requests off.',
  ],
  tls: [
    'The receiver’s certificate or TLS is not valid.',
    'Send the whole chain of a public authority, for this host name.',
  ],
  host: ['The host name leads to no public address.', 'Check the DNS entries of the host.'],
  'invalid-response': ['The receiver does not answer with HTTP.', 'Check what listens on this port.'],
  network: ['The network between us failed.', 'If it lasts, check your firewall and routes.'],
};

const REASONS: Readonly<Record<string, string>> = {
  connecting: 'No connection was established.',
  handshake: 'The TLS handshake was not completed.',
  'waiting-for-headers': 'The request was sent, and no status line came.',
  'certificate-expired': 'The certificate has expired.',
  'certificate-not-yet-valid': 'The certificate is not valid yet.',
  'certificate-other-name': 'The certificate is for other names.',
  'certificate-self-signed': 'The certificate is self-signed.',
  'certificate-unknown-issuer': 'The certificate’s authority is not trusted.',
  'intermediate-missing': 'The certificate came without that of its issuer.',
};

function causeOf(status: number | null, error: string | null): readonly [string, string] {
  const found = CAUSES[status === null ? (error ?? '') : kindOf(status)];
  return found ?? ['The last attempt failed.', 'Open a failed delivery to see the attempt.'];
}

function kindOf(status: number): string {
  if (status < 400) return 'redirect';
  if (status >= 500) return 'broken';
  return { 401: 'auth', 403: 'auth', 404: 'missing', 410: 'gone', 429: 'busy' }[status] ?? 'refused';
}

export const en = {
  title: 'Webhooks',
  account: (id: number) => `Account ${id}`,
  skip: 'Skip to content',
  close: 'Close',
  cancel: 'Cancel',
  screens: { label: 'Screens', overview: 'Overview', deliveries: 'Deliveries' },
  menu: {
    nobody: 'Your session',
    until: (time: string) => `until ${time}`,
    theme: 'Theme',
    themes: { auto: 'As the system', light: 'Light', dark: 'Dark' },
    language: 'Language',
    may: (rights: string) => `This session may ${rights}.`,
    rights: {
      read: 'read',
      payloads: 'see payloads',
      resend: 'resend',
      configure: 'configure',
      secrets: 'manage secrets',
    },
    signOut: 'Sign out',
  },
  signedOut: {
    'no-session': {
      title: 'Open the console from your provider’s portal',
      text: 'Sign-in is by a link: your payment provider’s portal opens this page for you. There is no password here.',
    },
    'unknown-link': {
      title: 'This link no longer works',
      text: 'A sign-in link works once, within 60 seconds. Go back to your provider’s portal and open the console again.',
    },
    'not-kept': {
      title: 'Your browser kept no session',
      text: 'This page is embedded in a page of another site. Ask your provider to open the console in a tab of its own.',
    },
    ended: {
      title: 'Your session has ended',
      text: 'Sessions last an hour at most. Open the console again from your provider’s portal.',
    },
    left: { title: 'You signed out', text: 'You can close this page.' },
    unreachable: {
      title: 'The service does not answer',
      text: 'This is probably temporary. Nothing is lost: deliveries continue without this page.',
    },
    again: 'Try again',
    goBack: 'Back to the portal',
  },
  notLoaded: { title: 'This screen could not be loaded', reload: 'Reload the page' },
  noScreen: { title: 'There is no such page', back: 'Go to the overview' },
  time: {
    now: 'now',
    lasting: (time: string) => `for ${time}`,
    in: (time: string) => `in ${time}`,
    ago: (time: string) => `${time} ago`,
  },
  freshness: {
    loading: 'Loading…',
    justNow: 'Up to date',
    ago: (time: string) => `Updated ${time} ago`,
    failing: (status: number | null) =>
      status === null ? 'The service does not answer.' : `The service answers ${status}.`,
    asOf: (time: string) => `Shown as of ${time}; trying again.`,
    never: 'Trying again.',
  },
  copying: {
    copy: (what: string) => `Copy ${what}`,
    done: 'Copied',
    refused: 'The browser does not allow copying here.',
  },
  outcomes: {
    delivered: 'Delivered',
    retrying: 'Waiting',
    exhausted: 'Given up',
    cancelled: 'Cancelled',
    held: 'Held',
  },
  eventTypes: {
    cash_in: 'Cash in',
    cash_out: 'Cash out',
    refund_in: 'Refund in',
    refund_out: 'Refund out',
    med_created: 'MED opened',
    med_accepted: 'MED accepted',
    med_rejected: 'MED rejected',
  },
  errors: (error: string) => ERRORS[error] ?? error,
  reason: (reason: string) => REASONS[reason] ?? reason,
  causes: {
    title: (status: number | null, error: string | null) => causeOf(status, error)[0],
    remedy: (status: number | null, error: string | null) => causeOf(status, error)[1],
  },
  missingRights: {
    read: 'This session may not read.',
    payloads: 'Payloads and answers are hidden: this session lacks the right “payloads”.',
    resend: 'This session may not resend or cancel: it lacks the right “resend”.',
    configure: 'This session may not recover: it lacks the right “configure”.',
    secrets: 'This session may not manage secrets.',
  },
  overview: {
    title: 'Overview',
    traffic: 'Traffic',
    range: 'Period',
    ranges: { '1h': '1 hour', '24h': '24 hours', '7d': '7 days' },
  },
  problems: {
    label: 'State of your webhooks',
    webhook: (id: number) => `Webhook ${id}`,
    states: { failing: 'Failing', off: 'Switched off by us', healthy: 'Works again', untried: 'Never tried' },
    waiting: (count: number, shown: string) =>
      `${shown} ${many(count, 'delivery waits', 'deliveries wait')} for the next attempt`,
    held: (count: number, shown: string) =>
      `${shown} held: ${many(count, 'it was', 'they were')} published while the URL was off`,
    switchedOff: 'Will be switched off',
    offRemedy: 'Payments that come meanwhile are held, not lost. Activate the webhook, then recover them.',
    open: 'See deliveries',
    recover: 'Recover…',
    activate: 'Activate',
    activated: 'Active again. What was held is still kept: recover it.',
    activateFailed: 'The webhook could not be activated.',
    allWell: (healthy: number, others: number) =>
      others > 0
        ? `${healthy} ${many(healthy, 'webhook delivers', 'webhooks deliver')}; ${others} had no event yet or ${many(others, 'is', 'are')} paused`
        : `All ${healthy} ${many(healthy, 'webhook delivers', 'webhooks deliver')}`,
    othersWell: (count: number) => `${count} other ${many(count, 'webhook delivers', 'webhooks deliver')}`,
    noWebhooks: {
      title: 'No webhooks yet',
      text: 'Register an HTTPS URL for a type of event. Its deliveries appear here within a second.',
      example:
        'curl $SERVICE/api/webhooks \\\n  -H "authorization: Bearer $TOKEN" \\\n  --json \'{ "url": "https://example.com/hooks", "eventType": "cash_in" }\'',
    },
  },
  disputes: { title: 'MED notices that have not arrived' },
  figures: {
    success: 'Successful attempts',
    ofAttempts: (count: number, shown: string) => `of ${shown} ${many(count, 'attempt', 'attempts')}`,
    delivered: 'Delivered',
    waiting: 'Waiting',
    now: 'right now',
    givenUp: 'Given up',
    held: 'Held',
    heldNote: 'while a URL was off',
  },
  charts: {
    attempts: 'Attempts',
    delivered: 'Delivered',
    failed: 'Failed',
    held: 'Held',
    latency: 'Time to answer',
    since: (time: string) => `Counted since ${time}.`,
  },
  deliveries: {
    title: 'Deliveries',
    all: 'All',
    outcome: 'Outcome',
    event: 'Event',
    webhook: 'Webhook',
    lastAnswer: 'Last answer',
    attempts: 'Attempts',
    published: 'Published',
    period: 'Any time',
    periods: { hour: 'Last hour', day: 'Last 24 hours', week: 'Last 7 days' },
    statuses: {
      '2xx': '2xx, accepted',
      '3xx': '3xx, redirects',
      '4xx': '4xx, refused',
      '5xx': '5xx, errors',
      none: 'No answer',
    },
    searchHint: 'Find by event id',
    clear: 'Clear filters',
    choose: (eventId: string) => `Select ${eventId}`,
    chooseAll: 'Select all on this page',
    next: 'next',
    notTried: 'not tried yet',
    removedWebhook: (id: number) => `removed webhook ${id}`,
    pages: 'Pages',
    newest: 'Back to newest',
    older: 'Older',
    noneHere: 'None so far: look further back.',
    oldest: 'These are the oldest.',
    thatIsAll: (count: number) => many(count, 'That is the only one.', `That is all ${count}.`),
    none: {
      title: 'No deliveries yet',
      text: 'When a payment event is published for an active webhook, its delivery appears here within a second.',
    },
    noMatch: {
      title: 'Nothing matches these filters',
      text: 'Widen the period or remove a filter.',
      eventId: (id: string) =>
        `No delivery of the event “${id}”. Ids are matched exactly; perhaps no webhook was active for its type.`,
    },
  },
  resending: {
    selected: (count: number) => `${count} selected`,
    clear: 'Clear',
    resend: (count: number) => `Resend ${count}`,
    title: (count: number) => many(count, 'Resend 1 delivery?', `Resend ${count} deliveries?`),
    explained:
      'Each gets one more attempt now, under its webhook-id. Receivers that already took one can recognize it by that id.',
    sending: (at: number, count: number) => `Sending ${at} of ${count}`,
    done: (count: number) => many(count, '1 delivery is on its way.', `${count} deliveries are on their way.`),
    someFailed: (failed: number, count: number) => `${failed} of ${count} could not be resent.`,
  },
  cancelling: {
    title: 'Cancel this delivery?',
    explained: '1 delivery ends as cancelled, and its receiver does not get this event. You can still resend it.',
    keep: 'Keep waiting',
    cancel: 'Cancel delivery',
    done: 'The delivery is cancelled.',
    failed: 'The delivery could not be cancelled.',
  },
  delivery: {
    notThere: {
      title: 'No such delivery',
      text: (id: string) => `This account has no delivery ${id}, or it is older than what is kept.`,
      back: 'All deliveries',
    },
    story: {
      delivered: (attempts: number) =>
        many(
          attempts,
          'Accepted by the receiver at the first attempt.',
          `Accepted by the receiver after ${attempts} attempts.`,
        ),
      retrying: (attempts: number) =>
        attempts === 0
          ? 'Waits for its first attempt.'
          : `Not accepted yet, after ${attempts} ${many(attempts, 'attempt', 'attempts')}. We try again by ourselves.`,
      exhausted: (attempts: number) =>
        `Given up after ${attempts} ${many(attempts, 'attempt', 'attempts')}. The event is kept: resend it when the receiver is ready.`,
      held: () =>
        'Not sent, because the URL was switched off. The event is kept: activate the webhook, then resend or recover.',
      cancelled: () => 'Cancelled by the account: the receiver did not get this event.',
    },
    resend: 'Resend now',
    resending: 'Sending…',
    resent: 'One more attempt is on its way.',
    resendFailed: 'The delivery could not be resent.',
    cancel: 'Cancel…',
    curl: 'as curl',
    link: 'link',
    timeline: 'Timeline',
    steps: {
      published: 'Published by the payment system',
      routed: 'Routed to this webhook',
      attempt: (number: number) => `Attempt ${number}`,
      answer: 'Answer',
      reconfigured: (from: number, to: number) => `Webhook changed: version ${from} to ${to}`,
      resending: 'Sending again…',
      next: (number: number) => `Attempt ${number} follows`,
      nextUnknown: 'Waits in the queue of its URL.',
      givenUp: 'Given up',
      givenUpExplained: 'No further attempt is planned. The event is kept as a dead letter.',
      held: 'Held',
      heldExplained: 'The service had switched this URL off. The event is kept.',
      cancelled: 'Cancelled',
    },
    triggers: {
      event: () => '',
      retry: () => 'automatic retry',
      resend: (actor: string | null) => (actor ? `resent by ${actor}` : 'resent'),
      recover: (actor: string | null) => (actor ? `recovered by ${actor}` : 'recovered'),
      replay: (actor: string | null) => (actor ? `replayed by ${actor}` : 'replayed by the operator'),
    },
    facts: {
      url: 'URL',
      eventId: 'Event id',
      allOfEvent: 'All deliveries of this event',
      eventType: 'Event type',
      published: 'Published',
      removed: (id: number) => `Webhook ${id}, removed`,
    },
    payload: {
      title: 'Payload',
      raw: 'Raw',
      lost: 'The payload is no longer kept.',
      until: (time: string) => `As published, byte for byte. Kept until ${time}.`,
    },
    request: {
      headers: 'Headers sent',
      hidden: 'hidden',
      timestamp: 'the second of the attempt',
      signature: 'v1, and a signature of each secret',
      check: 'How to check the signature',
      steps: [
        'Take the raw body, before any JSON parsing.',
        'Join webhook-id, webhook-timestamp and the body with dots.',
        'Compute HMAC-SHA256 with the base64-decoded part of your secret after whsec_.',
        'Compare its base64 with what follows “v1,”, in constant time, and refuse timestamps older than 5 minutes.',
      ],
    },
  },
  recover: {
    title: 'Recover deliveries',
    explained: 'Sends again what this URL did not accept, oldest first, each once.',
    since: 'Published since',
    sinceHint: 'Its last success',
    sinceDayHint: 'It never succeeded: 24 hours ago',
    until: 'Until',
    untilHint: 'Empty: now',
    which: 'Which',
    included: {
      exhausted: { name: 'Given up', hint: 'no further attempt is planned' },
      retrying: { name: 'Waiting', hint: 'instead of their next attempt' },
      held: { name: 'Held', hint: 'published while the URL was off' },
    },
    rate: 'Speed',
    perSecond: (rate: number) => `${rate} per second`,
    preview: {
      none: 'Choose at least one kind.',
      counting: 'Counting…',
      nothing: 'Nothing to send in this period.',
      sends: (count: number, shown: string) => `Sends ${shown} ${many(count, 'delivery', 'deliveries')}`,
      takes: (rate: number, time: string) => `at ${rate} per second, about ${time}.`,
      span: (oldest: string, newest: string) => `Published between ${oldest} and ${newest}.`,
    },
    start: (count: number) => (count > 0 ? `Send ${count.toLocaleString('en')}` : 'Send'),
    failed: 'The recovery could not be changed.',
    states: { running: 'Sending', sent: 'All sent', done: 'Done', stopped: 'Stopped' },
    left: (time: string) => `about ${time} left`,
    sent: 'Sent',
    of: (sent: string, count: string) => `${sent} of ${count}`,
    delivered: 'Delivered',
    failedCount: 'Failed again',
    running: 'Recoveries that are running',
    open: 'See progress',
    awaited: 'No answer yet',
    mayClose: 'Sending continues if you close this dialog or the page.',
    stoppedExplained: 'What was not sent stays as it was. You can recover the rest later.',
    doneExplained: 'What failed again is kept: fix the receiver, then recover once more.',
    stop: 'Stop',
  },
};

/** English is what the others translate: a key that one lacks does not compile. */
export type Texts = typeof en;
