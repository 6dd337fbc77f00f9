/** Who may call. What a client asks before it sends credentials is free for all. */
import { ServerInterceptingCall, type ServerInterceptor, status } from '@grpc/grpc-js';
import { accessDenied } from './calls.js';
import type { Faults } from './faults.js';
import type { Users } from './users.js';

const UNAUTHENTICATED = { code: status.UNAUTHENTICATED, details: 'Bad HTTP status: 401' };
const FREE = /\.(ServerFeatures|Gossip)\//;

export function checkingCredentials(users: Users | undefined, faults: Faults): ServerInterceptor {
  const refusal = (given: unknown) => {
    if (faults.isRefusing || (users && given && !users.rolesOf(`${given}`))) return UNAUTHENTICATED;
    return users && !given ? accessDenied() : null;
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
