package main

import (
	"context"
	"log"
	"os"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
)

func main() {
	client, err := cloudevents.NewClientHTTP(
		cloudevents.WithTarget(os.Getenv("SERVICE")+"/api/payment-events"),
		cloudevents.WithHeader("authorization", "Bearer "+os.Getenv("TOKEN")),
	)
	if err != nil {
		log.Fatal(err)
	}
	event := cloudevents.NewEvent()
	event.SetSource("/payments")
	event.SetType("com.example.payments.cash_in")
	event.SetExtension("accountid", "42")
	if err := event.SetData(cloudevents.ApplicationJSON, map[string]string{"amount": "10.00"}); err != nil {
		log.Fatal(err)
	}
	for mode, encoded := range map[string]func(context.Context) context.Context{
		"binary":     cloudevents.WithEncodingBinary,
		"structured": cloudevents.WithEncodingStructured,
	} {
		event.SetID(os.Args[1] + "-" + mode)
		// The service is in the way (429, 503): send it again.
		patient := cloudevents.ContextWithRetriesConstantBackoff(context.Background(), 5*time.Second, 1000)
		if result := client.Send(encoded(patient), event); !cloudevents.IsACK(result) {
			log.Fatalf("not published: %v", result)
		}
	}
}
