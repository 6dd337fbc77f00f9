id=$1
token=$(curl -sf -u "$CLIENT_ID:$CLIENT_SECRET" -d grant_type=client_credentials "$SERVICE/oauth/token" |
  sed 's/.*"access_token":"\([^"]*\)".*/\1/')

# --retry repeats the request after a 503: publishing again under the same id is safe. A 400 names what is wrong.
curl -sS --fail-with-body --retry 5 --retry-connrefused "$SERVICE/api/payment-events" \
  -H "Authorization: Bearer $token" -H 'Content-Type: application/json' -H "X-Correlation-Id: $id" \
  -d '{"id":"'"$id"'","type":"cash_in","accountId":42,"timestamp":"2026-11-21T09:00:00Z","data":{"amount":"10.00"}}'
