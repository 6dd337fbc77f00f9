/** Who may call. What a client asks before it sends credentials is free for all. */
import { Metadata, ServerInterceptingCall, type ServerInterceptor, status } from '@grpc/grpc-js';
import type { Faults } from './faults.js';

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

const UNAUTHENTICATED = { code: status.UNAUTHENTICATED, details: 'Bad HTTP status: 401' };
const DENIED = {
  code: status.PERMISSION_DENIED,
  details: 'Access Denied',
  metadata: Metadata.fromHttp2Headers({ exception: 'access-denied' }),
};
const FREE = /\.(ServerFeatures|Gossip)\//;

export function checkingCredentials(expected: Credentials | undefined, faults: Faults): ServerInterceptor {
  const right = expected && `Basic ${Buffer.from(`${expected.username}:${expected.password}`).toString('base64')}`;
  const refusal = (given: unknown) => {
    if (faults.isRefusing || (right && given && given !== right)) return UNAUTHENTICATED;
    return right && !given ? DENIED : null;
  };
  return ({ path }, call) =>
    new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, pass) => {
            const refused = FREE.test(path) ? null : refusal(metadata.get('authorization')[0]);
            if (refused) call.sendStatus(refused);
            else pass(metadata);
          },
        }),
    });
}

/** The name that a call was made under; '' for none. */
export function userOf(caller: Metadata): string {
  const [, encoded = ''] = `${caller.get('authorization')[0] ?? ''}`.split(' ');
  return Buffer.from(encoded, 'base64').toString().split(':')[0] ?? '';
}
