import type { DetailedDelivery } from '../../src/console/api/shapes.js';
import { curlOf } from '../../src/console/delivery/curl.js';

const delivery = (request: DetailedDelivery['request']) =>
  ({ id: 'msg_1', payload: "<it's/>", request }) as DetailedDelivery;

it('a CloudEvent is sent again with its content type and attributes, and without the values of secrets', () => {
  const headers = { 'ce-id': 'pay-1', 'ce-source': '/payments', 'X-Key': 'secret' };
  const curl = curlOf(delivery({ contentType: 'application/xml', headers }), 'https://shop.example.com/');
  expect(curl.split(' \\\n  ')).toEqual([
    "curl --globoff 'https://shop.example.com/'",
    "-H 'content-type: application/xml'",
    "-H 'webhook-id: msg_1'",
    "-H 'webhook-timestamp: <seconds>'",
    "-H 'webhook-signature: <v1,base64>'",
    "-H 'ce-id: pay-1'",
    "-H 'ce-source: /payments'",
    "-H 'X-Key: <value>'",
    "--data-raw '<it'\\''s/>'",
  ]);
});

it('curl reads no file for a payload @path, and expands no range of a URL', () => {
  const curl = curlOf(
    { ...delivery({ contentType: 'text/plain', headers: {} }), payload: '@/etc/hosts' },
    'https://a.com/[1-3]',
  );
  expect(curl).toMatch(/^curl --globoff 'https:\/\/a\.com\/\[1-3\]'/);
  expect(curl).toMatch(/--data-raw '@\/etc\/hosts'$/);
});
