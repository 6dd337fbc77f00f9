/**
 * The API's refusals carry no codes: the sentences that people meet in the page are known by their text, so that the page
 * can say them in its reader's language. test/console-texts compares them with what the service says.
 */
const SENTENCES = {
  urlNotHttps: /^url must begin with https/,
  urlCharacters: /^url must not contain (?:spaces|characters)/,
  urlTooLong: /^url must have at most (\d+) characters/,
  urlFragment: /^url must not have a fragment/,
  urlUser: /^url must not contain a user name/,
  urlInvalid: /^url is not a valid URL/,
  urlPort: /^port (\d+) is not allowed in url/,
  hostAddress: /^the host of url (?:must be a name|is an IP address)/,
  hostReserved: /^the host of url must not be a reserved name \((.+)\)/,
  hostShort: /^the host of url must be a full domain name/,
  // After the other sentences about the host.
  hostInvalid: /^the host of url must/,
  headerName: /\.key must be an HTTP header name/,
  headerOwn: /\.key is a header that the service sets/,
  headerRepeated: /\.key is repeated/,
  headerTooLong: /\.(?:key|value) must have at most (\d+) characters/,
  headerValue: /\.value must be visible ASCII/,
  urlTaken: /^url is that of another webhook/,
  typeFull: /already has (\d+) active webhooks/,
  accountFull: /the account has (\d+) webhooks; remove/,
  accountTooLarge: /the webhooks of the account would exceed/,
  webhookInactive: /^the webhook (?:of this delivery )?is inactive/,
  recoveryRunning: /^webhooks? ([\d, ]+) (?:is|are) being recovered/,
  untilBeforeSince: /^until must be later than since/,
  payloadGone: /^the payload of this delivery is no longer kept/,
  deliveryTooOften: /^this delivery was sent again (\d+) times/,
  notFound: /^(?:webhook|delivery|recovery|session) not found/,
  testRunning: /^another test is in progress/,
  testInterrupted: /^the service interrupted the test/,
  tooManySecrets: /^(\d+) signing secrets sign/,
  tooManyRequests: /^(?:too many requests|the reads of this account|too many responses)/,
  tooManyChanges: /^the account added too much to its history/,
  tooMuchSent: /^this account had too much sent again/,
  unavailable: /^the (?:service is unavailable|deliveries are not readable)/,
  noRight: /^this session has not the right (\w+)/,
} as const satisfies Readonly<Record<string, RegExp>>;

export type Refusal = keyof typeof SENTENCES;

/** @param captured the number or name in the sentence; '': it has none */
export type RefusalTexts = Readonly<Record<Refusal, (captured: string) => string>>;

/** @returns a sentence that is not known as it is */
export function refusalIn(texts: RefusalTexts, sentence: string): string {
  for (const [refusal, pattern] of Object.entries(SENTENCES) as [Refusal, RegExp][]) {
    const match = pattern.exec(sentence);
    if (match) return texts[refusal](match[1] ?? '');
  }
  return sentence;
}
