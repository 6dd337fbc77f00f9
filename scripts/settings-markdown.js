/** docs/settings.md, from the table of src/settings/. */
const HEAD = `# Settings

<!-- Written by \`make settings-document\` from src/settings/table.ts. Do not edit: a test compares. -->

Environment variables configure the service. An empty value counts as unset. A start checks all of them: if any is wrong, it
prints a line for each on stderr, which begins with its name and does not show its value, and ends with exit code 1.
\`account-webhooks doctor\` also checks the files and servers that the settings name.

No forward proxy is used: deliveries, test events, the keys of \`AUTH_JWKS_URL\` and spans go directly to their hosts. Where
\`HTTPS_PROXY\`, \`HTTP_PROXY\`, \`ALL_PROXY\` (in lower case too) or \`NODE_USE_ENV_PROXY\` is set, the start and \`doctor\` say what
to allow in the firewall instead. Two libraries follow such a variable by themselves: EventStoreDB's client \`grpc_proxy\`,
\`https_proxy\` and \`http_proxy\`, except for the hosts of \`no_proxy\`; and Node, from 22.21 and 24 on with \`NODE_USE_ENV_PROXY=1\`,
for the keys of \`AUTH_JWKS_URL\`.
`;

const TABLE = '| setting | default | takes | |\n|---|---|---|---|\n';

/** @param sections SECTIONS of src/settings/table.ts */
export function settingsMarkdown(sections) {
  const chapters = Object.entries(sections).map(
    ([name, settings]) => `\n## ${name}\n\n${TABLE}${Object.entries(settings).map(row).join('')}`,
  );
  return HEAD + chapters.join('');
}

function row([key, { parser, byDefault, says }]) {
  return `| \`${key}\` | ${byDefault ? `\`${byDefault}\`` : '-'} | ${parser.expected} | ${says} |\n`;
}
