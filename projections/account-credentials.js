// @ts-check
// An account's credentials (client ids and hashes of their secrets), its sealed signing secrets and its sessions, oldest first.
// Used to answer POST /oauth/token, to sign deliveries and to authenticate sessions. The rules of account-webhooks.js
// apply here too.

/**
 * @template Data
 * @param {Handled<Data>} event
 * @returns {Data}
 */
function dataOf(event) {
  return event.data || Object.create(null);
}

/** @type {(state: CredentialsState, sessionId: string) => CredentialsState} */
function withoutSession(state, sessionId) {
  state.sessions = state.sessions.filter(({ id }) => id !== sessionId);
  return state;
}

fromCategory('account')
  .foreachStream()
  .when({
    /** @returns {CredentialsState} */
    $init: () => ({ accountId: null, credentials: [], signingSecrets: [], sessions: [] }),

    AccountRegistered: (state, event) => {
      state.accountId = dataOf(event).accountId;
      return state;
    },

    CredentialIssued: (state, event) => {
      const { clientId, secretHash, issuedAt } = dataOf(event);
      state.credentials.push({ clientId, secretHash, issuedAt });
      return state;
    },

    CredentialRevoked: (state, event) => {
      const { clientId } = dataOf(event);
      state.credentials = state.credentials.filter((credential) => credential.clientId !== clientId);
      state.sessions = state.sessions.filter((session) => session.clientId !== clientId);
      return state;
    },

    SigningSecretIssued: (state, event) => {
      const { sealed, issuedAt } = dataOf(event);
      state.signingSecrets.push({ sealed, issuedAt });
      return state;
    },

    // The newest one stays: between two events of one append an account is never without a secret.
    SigningSecretsRevoked: (state) => {
      state.signingSecrets = state.signingSecrets.slice(-1);
      return state;
    },

    PortalSessionOpened: (state, event) => {
      const { sessionId, codeHash, codeUntil, user, can, actor, clientId, next, returnUrl, until, openedAt } =
        dataOf(event);
      // Times of one form are ordered as texts. There is no other clock here: expired sessions stay until another opens.
      // One that was never entered, and can be no more, is as good as expired.
      state.sessions = state.sessions.filter(
        (session) => session.until > openedAt && (session.cookieHash !== null || session.codeUntil > openedAt),
      );
      state.sessions.push({
        id: sessionId,
        codeHash,
        codeUntil,
        cookieHash: null,
        user,
        can,
        actor,
        clientId,
        next,
        returnUrl,
        until,
        openedAt,
      });
      return state;
    },

    PortalSessionEntered: (state, event) => {
      const { sessionId, cookieHash } = dataOf(event);
      for (const session of state.sessions) {
        if (session.id === sessionId) session.cookieHash = cookieHash;
      }
      return state;
    },

    PortalSessionEnded: (state, event) => withoutSession(state, dataOf(event).sessionId),
  });
