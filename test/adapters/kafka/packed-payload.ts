/** What the files of packed/ unpack to: payment events, one a line, long enough for several blocks. */
const line = (n: number) => {
  const data = { amount: (n * n * 1.37).toFixed(2) };
  return `${JSON.stringify({ id: `pay-${n}`, type: n % 3 ? 'cash_in' : 'refund_out', accountId: 7 * n, data })}\n`;
};

export const PAYLOAD = Buffer.from(
  Array.from({ length: 20 }, (_, n) => line(n))
    .join('')
    .repeat(130),
);
