// @ts-check
// An account's webhooks: answers GET /api/webhooks and routes payment events.
// This source runs unchanged in two places: in process (src/read-model/projection-host.ts) and on an EventStoreDB server.
// A throwing handler would stop the projection for every account on the server: none throws, whatever the event contains.
// The state's type is AccountWebhooks in src/webhooks/state.ts; tsc checks these handlers (src/read-model/projection-language.d.ts).

// On a server, data may be null or not an object. In process such an event is not folded (src/read-model/fold.ts).
/**
 * @template Data
 * @param {Handled<Data>} event
 * @returns {Data}
 */
function dataOf(event) {
  return event.data || Object.create(null);
}

/**
 * @param {WebhooksState} state
 * @param {number} id
 * @param {(webhook: WebhooksState['webhooks'][number]) => void} change
 */
function withWebhook(state, id, change) {
  for (const webhook of state.webhooks) {
    if (webhook.id === id) change(webhook);
  }
  return state;
}

// The endpoint has accepted a delivery, or was reconfigured: earlier failures no longer count. Nor do those of an endpoint
// that no webhook has any more.
/** @type {(state: WebhooksState, endpoint?: string) => WebhooksState} */
function notFailing(state, endpoint) {
  if (state.failing.length === 0) return state;
  /** @type {Record<string, boolean>} */
  const isOf = Object.create(null);
  for (const webhook of state.webhooks) isOf[webhook.endpoint] = true;
  state.failing = state.failing.filter((failing) => failing.endpoint !== endpoint && isOf[failing.endpoint]);
  return state;
}

// A recovery is kept while it is the last one of a webhook that the account has: there are no more of them than webhooks.
/** @type {(state: WebhooksState) => WebhooksState} */
function withLastRecoveries(state) {
  /** @type {Record<number, boolean>} */
  const isWithout = Object.create(null);
  for (const { id } of state.webhooks) isWithout[id] = true;
  /** @param {WebhooksState['recoveries'][number]} recovery */
  const isLast = ({ webhookIds }) => {
    const first = webhookIds.filter((id) => isWithout[id]);
    for (const id of first) isWithout[id] = false;
    return first.length > 0;
  };
  state.recoveries = state.recoveries.reverse().filter(isLast).reverse();
  return state;
}

fromCategory('account')
  .foreachStream()
  .when({
    /** @returns {WebhooksState} */
    $init: () => ({ accountId: null, webhooks: [], failing: [], recoveries: [] }),

    AccountRegistered: (state, event) => {
      state.accountId = dataOf(event).accountId;
      return state;
    },

    WebhookAdded: (state, event) => {
      const { webhookId, eventType, url, endpoint, headers, version, createdAt } = dataOf(event);
      const addedBy = event.eventId;
      // Field by field: with a spread, folding in a rebuild took three times as long.
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

    WebhookUpdated: (state, event) => {
      const { webhookId, url, endpoint, headers, version, updatedAt } = dataOf(event);
      return withWebhook(state, webhookId, (webhook) => {
        if (webhook.endpoint !== endpoint) webhook.movedAt = updatedAt;
        webhook.url = url;
        webhook.endpoint = endpoint;
        webhook.headers = headers;
        webhook.version = version;
        notFailing(state, endpoint);
      });
    },

    WebhookActivated: (state, event) => {
      const { webhookId, activatedAt } = dataOf(event);
      return withWebhook(state, webhookId, (webhook) => {
        webhook.isActive = true;
        webhook.activatedAt = activatedAt;
        delete webhook.offBy;
        delete webhook.offAt;
        delete webhook.offReason;
        notFailing(state, webhook.endpoint);
      });
    },

    WebhookDeactivated: (state, event) => {
      const { webhookId, by, reason, deactivatedAt } = dataOf(event);
      return withWebhook(state, webhookId, (webhook) => {
        webhook.isActive = false;
        webhook.offAt = deactivatedAt;
        webhook.offReason = reason;
        if (by === 'service') webhook.offBy = 'service';
        else delete webhook.offBy;
      });
    },

    WebhookRemoved: (state, event) => {
      state.webhooks = state.webhooks.filter((webhook) => webhook.id !== dataOf(event).webhookId);
      return withLastRecoveries(notFailing(state));
    },

    EndpointFailing: (state, event) => {
      const { endpoint, since } = dataOf(event);
      notFailing(state, endpoint).failing.push({ endpoint, since });
      return state;
    },

    DeactivationAnnounced: (state, event) => {
      const { endpoint, deactivatesAt } = dataOf(event);
      for (const failing of state.failing) {
        if (failing.endpoint === endpoint) failing.deactivatesAt = deactivatesAt;
      }
      return state;
    },

    NoticesSet: (state, event) => {
      const { url, endpoint, headers } = dataOf(event);
      state.notices = { url, endpoint, headers };
      return state;
    },

    NoticesRemoved: (state) => {
      delete state.notices;
      return state;
    },

    EndpointRecovered: (state, event) => notFailing(state, dataOf(event).endpoint),

    RecoveryStarted: (state, event) => {
      const {
        recoveryId: id,
        webhookIds: ids,
        since,
        until,
        include,
        perSecond,
        count,
        actor,
        startedAt,
      } = dataOf(event);
      const webhookIds = Array.isArray(ids) ? ids : [];
      const about = { id, webhookIds, since, until, include, perSecond, count, actor, startedAt };
      state.recoveries.push({ ...about, state: 'running', passedBy: null });
      return withLastRecoveries(state);
    },

    RecoveryEnded: (state, event) => {
      for (const recovery of state.recoveries) {
        if (recovery.id !== dataOf(event).recoveryId) continue;
        recovery.state = dataOf(event).state;
        recovery.passedBy = dataOf(event).passedBy;
      }
      return state;
    },
  });
