/**
 * A URL that takes nothing for days, as cohorts: deliveries that were deferred by the same delay come back over the tenth of
 * it that is its jitter. 38 million deferrals took 8 s; so each second stands for ten: a tenth of them, as a tenth of the limit.
 */
import { DeferralPace } from '../../../src/delivery/retry/deferral-pace.js';
import { DEFERRALS, type Delay, deferralFor, delayOf } from '../../../src/delivery/retry/retry-schedule.js';
import { mulberry } from '../../support/mulberry.js';
