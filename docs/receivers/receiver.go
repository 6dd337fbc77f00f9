package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	webhook, err := standardwebhooks.NewWebhook(os.Getenv("WEBHOOK_SECRET")) // whsec_...
	if err != nil {
		log.Fatal(err)
	}
	var seen sync.Map // with several processes: a unique key in your database
	receive := func(response http.ResponseWriter, request *http.Request) {
		// The bytes as they came: JSON that was parsed and written again is not signed.
		body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, 1<<20))
		if err != nil || webhook.Verify(body, request.Header) != nil {
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		id := request.Header.Get("webhook-id")
		if _, isKnown := seen.LoadOrStore(id, true); !isKnown {
			fmt.Println(id, string(body)) // keep it, and work on it after the answer
		}
		response.WriteHeader(http.StatusNoContent)
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(receive)))
}
