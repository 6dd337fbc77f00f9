package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

var service = os.Getenv("SERVICE")

func send(request *http.Request) (int, http.Header, []byte) {
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err) // the event may be published: publish it again, with the same id
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	return response.StatusCode, response.Header, body
}

// A token is valid for an hour by default: keep it until then.
func publish(event string) (int, http.Header, []byte) {
	form := url.Values{"grant_type": {"client_credentials"}}
	request, _ := http.NewRequest("POST", service+"/oauth/token", strings.NewReader(form.Encode()))
	request.SetBasicAuth(os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET"))
	request.Header.Set("content-type", "application/x-www-form-urlencoded")
	status, header, body := send(request)
	if status != 200 {
		return status, header, body
	}
	var answer struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		log.Fatal(err)
	}
	request, _ = http.NewRequest("POST", service+"/api/payment-events", strings.NewReader(event))
	request.Header.Set("authorization", "Bearer "+answer.AccessToken)
	request.Header.Set("content-type", "application/json")
	return send(request)
}

func main() {
	event := fmt.Sprintf(`{"id":%q,"type":"cash_in","accountId":42,"data":{"amount":"10.00"}}`, os.Args[1])
	for {
		status, header, body := publish(event)
		if status == 202 {
			fmt.Printf("%s\n", body)
			return
		}
		if status < 500 && status != 429 { // a 400 names what is wrong
			log.Fatalf("not published: %d %s", status, body)
		}
		// The service is in the way. Send it again: receivers drop duplicates by their webhook-id.
		seconds, _ := strconv.Atoi(header.Get("retry-after"))
		time.Sleep(time.Duration(seconds+1) * time.Second)
	}
}
