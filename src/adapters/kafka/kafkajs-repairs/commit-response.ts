/**
 * If a topic of an offset commit is gone, the commit fails at once. kafkajs would repeat the same commit for seconds, and if
 * the topic is recreated meanwhile, the group would get the old topic's offsets in the new one.
 */
import { isUnknownTopic } from '../kafka-errors.js';
import { offsetCommitProtocol } from './kafkajs-internals.js';

let isInstalled = false;

/** For every client of kafkajs in this process, once. */
export function installCommitAnswers(): void {
  if (isInstalled) return;
  isInstalled = true;
  const { protocol } = offsetCommitProtocol;
  offsetCommitProtocol.protocol = ({ version }) => {
    const call = protocol({ version });
    if (!call) return call;
    return (parameters) => {
      const made = call(parameters);
      const parse = (decoded: unknown) => made.response.parse(decoded).catch(failed);
      return { ...made, response: { ...made.response, parse } };
    };
  };
}

function failed(error: Error): never {
  throw isUnknownTopic(error) ? Object.assign(error, { retriable: false }) : error;
}
