id=$1
# --retry repeats a request while the service is in the way (5xx, 429), after its Retry-After: publishing again under the same
# id is safe. A 400 names what is wrong.
token=$(curl -sf --retry 1000 -u "$CLIENT_ID:$CLIENT_SECRET" -d grant_type=client_credentials "$SERVICE/oauth/token" |
  sed 's/.*"access_token":"\([^"]*\)".*/\1/')

curl -sS --fail-with-body --retry 1000 --retry-connrefused "$SERVICE/api/payment-events" \
  -H "Authorization: Bearer $token" -H 'Content-Type: application/json' -H "X-Correlation-Id: $id" \
  -d '{"id":"'"$id"'","type":"cash_in","accountId":42,"timestamp":"2026-11-21T09:00:00Z","data":{"amount":"10.00"}}'
