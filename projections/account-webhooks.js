// An account's webhooks: what GET /api/webhooks shows and what payment events are routed by.
// It runs in two places, unchanged: in process (src/read-model/projection-host.ts) and on an EventStoreDB server.
// A handler that throws would stop the projection for every account on the server: none does, whatever the event holds.
// The state is the one of src/webhooks/decide.ts; a test holds the two together.

function withWebhook(state, id, change) {
  for (const webhook of state.webhooks) {
    if (webhook.id === id) change(webhook);
  }
  return state;
}

// The endpoint has taken something, or somebody has configured it anew: that it failed before does not count any more.
function notFailing(state, endpoint) {
  state.failing = state.failing.filter((failing) => failing.endpoint !== endpoint);
  return state;
}

fromCategory('account')
  .foreachStream()
  .when({
    $init: () => ({ accountId: null, webhooks: [], failing: [] }),

    AccountRegistered: (state, event) => {
      state.accountId = event.data.accountId;
      return state;
    },

    WebhookAdded: (state, event) => {
      const { webhookId, eventType, url, endpoint, headers, version, createdAt } = event.data;
      const addedBy = event.eventId;
      // Field by field: with a spread here the folding of a rebuild took three times as long.
      state.webhooks.push({
        id: webhookId,
        eventType,
        url,
        endpoint,
        headers,
        version,
        isActive: true,
        createdAt,
        addedBy,
      });
      return notFailing(state, endpoint);
    },

    WebhookUpdated: (state, event) =>
      withWebhook(state, event.data.webhookId, (webhook) => {
        webhook.url = event.data.url;
        webhook.headers = event.data.headers;
        webhook.version = event.data.version;
        notFailing(state, webhook.endpoint);
      }),

    WebhookActivated: (state, event) =>
      withWebhook(state, event.data.webhookId, (webhook) => {
        webhook.isActive = true;
        delete webhook.offBy;
        notFailing(state, webhook.endpoint);
      }),

    WebhookDeactivated: (state, event) =>
      withWebhook(state, event.data.webhookId, (webhook) => {
        webhook.isActive = false;
        if (event.data.by === 'service') webhook.offBy = 'service';
        else delete webhook.offBy;
      }),

    WebhookRemoved: (state, event) => {
      state.webhooks = state.webhooks.filter((webhook) => webhook.id !== event.data.webhookId);
      return state;
    },

    EndpointFailing: (state, event) => {
      const { endpoint, since } = event.data;
      notFailing(state, endpoint).failing.push({ endpoint, since });
      return state;
    },

    EndpointRecovered: (state, event) => notFailing(state, event.data.endpoint),
  });
