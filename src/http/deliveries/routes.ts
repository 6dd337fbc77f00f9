import type { ApiParts } from '../api-parts.js';
import { listAccountDeliveries, listDeliveries } from './list-deliveries.js';
import { cancelDelivery, resendDelivery } from './resend-delivery.js';
import { showDelivery } from './show-delivery.js';

export const routes = (parts: ApiParts) => [
  listAccountDeliveries(parts),
  listDeliveries(parts),
  showDelivery(parts),
  resendDelivery(parts),
  cancelDelivery(parts),
];
