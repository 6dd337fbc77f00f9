import type { ApiParts } from '../api-parts.js';
import { moveWebhooks, removeWebhook, updateWebhook } from './change-webhook.js';
import { listWebhooks } from './list-webhooks.js';
import { registerWebhook } from './register-webhook.js';
import { showWebhook } from './show-webhook.js';
import { testWebhook } from './test-webhook.js';
import { showWebhooksHealth } from './webhooks-health.js';

export const routes = (parts: ApiParts) => [
  registerWebhook(parts),
  listWebhooks(parts),
  showWebhooksHealth(parts),
  moveWebhooks(parts),
  showWebhook(parts),
  updateWebhook(parts),
  removeWebhook(parts),
  testWebhook(parts),
];
