/** What the routes work with. */
import type { VerifyToken } from '../accounts/access-tokens.js';
import type { ChangeCredentials } from '../accounts/change-credentials.js';
import type { RandomBytes } from '../accounts/client-credentials.js';
import type { OwnTokens } from '../accounts/own-tokens.js';
import type { Reserve } from '../limits/reserve.js';
import type { RateLimit } from '../limits/user-limits.js';
import type { Logger } from '../observability/logger.js';
import type { HttpMetrics } from '../observability/metrics.js';
import type { TraceContext, Tracing } from '../observability/tracing.js';
import type { EventCatalogue } from '../payments/event-catalogue.js';
import type { AskView } from '../ports/deliveries-view.js';
import type { EventStore } from '../ports/event-store.js';
import type { PublishedPayloads } from '../ports/published-payloads.js';
import type { CancelDelivery, SendAgain } from '../ports/send-again.js';
import type { TestOutcome } from '../ports/test-outcome.js';
import type { Accounts } from '../read-model/accounts.js';
import type { EndpointsOf } from '../read-model/removed-webhooks.js';
import type { Fingerprints } from '../secrets/fingerprint.js';
import type { NoticeTarget } from '../webhooks/events.js';
import type { HandleCommand, HandleKeyedCommand } from '../webhooks/handle-command.js';
import type { WebhookIds } from '../webhooks/webhook-ids.js';
import type { Admission } from './admission.js';
import type { ConsoleParts } from './console.js';
import type { Publishing } from './payment-events/publishing-pace.js';
import type { ClientCertificate } from './shared-schemas.js';
import type { EndpointParts } from './webhooks/webhook-fields.js';

export interface ApiParts extends EndpointParts {
  readonly accounts: Accounts;
  readonly view: AskView;
  readonly store: Pick<EventStore, 'read'>;
  readonly payloads: PublishedPayloads;
  readonly endpointsOf: EndpointsOf;
  readonly handleCommand: HandleCommand;
  readonly handleKeyedCommand: HandleKeyedCommand;
  readonly changeCredentials: ChangeCredentials;
  readonly fingerprints: Fingerprints;
  readonly webhookIds: WebhookIds;
  readonly sendAgain: SendAgain;
  readonly cancel: CancelDelivery;
  readonly sendTest: SendTest;
  readonly catalogue: EventCatalogue;
  /** DEACTIVATE_AFTER; 0: never. */
  readonly deactivateAfterMs: number;
  /** Of deliveries; null: they show none. */
  readonly clientCertificate: ClientCertificate | null;
  readonly verifyToken: VerifyToken;
  readonly publishing: Publishing;
  readonly console: Omit<ConsoleParts, 'publicUrl'>;
  /** The service's public URL, without a trailing slash; null: the Host of each request. */
  readonly publicUrl: string | null;
  /** Null if another issuer's tokens are accepted: then there is no POST /oauth/token and no metadata for it. */
  readonly ownTokens: OwnTokens | null;
  readonly rateLimits: Readonly<Record<'writes' | 'tests' | 'tokens', RateLimit>>;
  readonly reserve: Reserve;
  readonly admission: Admission;
  readonly version: string;
  /** docs/asyncapi.json */
  readonly asyncApi: string;
  readonly logger: Logger;
  readonly metrics: HttpMetrics;
  readonly tracing: Pick<Tracing, 'begin'> | null;
  readonly newRequestId: () => string;
  readonly randomBytes: RandomBytes;
  readonly now: () => Date;
}

type TestTarget = Pick<NoticeTarget, 'endpoint' | 'headers'> & { readonly eventType: string };
type SendTest = (accountId: number, target: TestTarget, trace: TraceContext | null) => Promise<TestOutcome>;
