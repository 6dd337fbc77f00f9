export const en = {
  noRight: 'Your provider’s portal decides which rights a session has. Ask for one with the right “secrets”.',
  secrets: {
    title: 'Signing secrets',
    text: 'Each delivery is signed with these, so that its receiver knows it is genuine. Secrets are never shown again.',
    issued: 'Issued',
    signs: 'Signs',
    current: 'until the next rotation',
    until: 'until',
    rotate: 'Rotate…',
  },
  rotating: {
    title: 'Rotate the signing secret?',
    explained:
      'A new secret is issued and shown once. For 24 hours deliveries are signed with the new and the previous secret: give receivers the new one within this time.',
    rotate: 'Issue a new secret',
    failed: 'No secret was issued.',
    unknown:
      'It is not known whether a secret was issued. See the list: if there is one that you were not shown, rotate again.',
    shownOnce: 'Your new signing secret',
    keep: (time: string) => `Copy it now: it is not shown again. The previous secret signs until ${time}.`,
    secret: 'secret',
    done: 'I have stored it',
  },
  sessions: {
    title: 'Open sessions',
    text: 'People who use this console or hold a link to it.',
    user: 'User',
    rights: 'Rights',
    opened: 'Opened',
    ends: 'Ends',
    mine: 'this session',
    unnamed: 'no name',
    id: 'session id',
    end: 'End…',
  },
  ending: {
    title: (user: string | null) => (user === null ? 'End this session?' : `End the session of ${user}?`),
    mine: 'End your own session?',
    explained: 'It can do nothing more from now on, nor can sessions that were opened in it.',
    mineExplained: 'You will be signed out. Open the console again from your provider’s portal.',
    end: 'End session',
    done: 'The session has ended.',
    failed: 'The session could not be ended.',
  },
  credentials: {
    title: 'Credentials',
    text: 'Systems get tokens of this account with them. Your provider issues and revokes them.',
    id: 'client id',
  },
  certificate: {
    title: 'Client certificate',
    text: 'Deliveries show it to receivers that demand one (mutual TLS). Trust its issuer: the certificate is replaced before it expires.',
    none: 'Deliveries show no client certificate. Receivers know us by the signature.',
    subject: 'Subject',
    issuer: 'Issuer',
    valid: 'Valid',
  },
};

export type SecurityTexts = typeof en;
