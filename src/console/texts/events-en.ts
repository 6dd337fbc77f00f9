/** English, of the screen Events alone. */
export const en = {
  tabs: { published: 'Published', types: 'Event types' },
  sentTo: 'Sent to',
  show: (eventId: string) => `Payload of ${eventId}`,
  from: 'From',
  to: 'To',
  onItsWay: 'on its way',
  nobody: (type: string) => `Nobody: no webhook was active for ${type}.`,
  nobodyRemedy: 'A webhook that you add now gets the next ones. This one can be read here.',
  seeTypes: 'See event types',
  held: 'Held: the URL was switched off. Activate the webhook, then recover.',
  none: {
    title: 'Nothing was published yet',
    text: 'Each payment event of this account appears here within a second, whether a webhook is active for it or not.',
  },
  schema: 'Schema of data',
  example: 'Example of data',
  noSchema: 'The provider describes no schema for the data of this type.',
  name: 'Name in the API',
};

export type EventTexts = typeof en;
