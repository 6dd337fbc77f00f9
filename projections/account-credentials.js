// An account's credentials (client ids and hashes of their secrets) and its sealed signing secrets, oldest first.
// Used to answer POST /oauth/token and to sign deliveries. The rules of account-webhooks.js apply here too.

function dataOf(event) {
  return event.data || {};
}

fromCategory('account')
  .foreachStream()
  .when({
    $init: () => ({ accountId: null, credentials: [], signingSecrets: [] }),

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
      state.credentials = state.credentials.filter((credential) => credential.clientId !== dataOf(event).clientId);
      return state;
    },

    SigningSecretIssued: (state, event) => {
      const { sealed, issuedAt } = dataOf(event);
      state.signingSecrets.push({ sealed, issuedAt });
      return state;
    },
  });
