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

// Valid for an hour by default: keep it until then.
func token() string {
	form := url.Values{"grant_type": {"client_credentials"}}
	request, _ := http.NewRequest("POST", service+"/oauth/token", strings.NewReader(form.Encode()))
	request.SetBasicAuth(os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET"))
	request.Header.Set("content-type", "application/x-www-form-urlencoded")
	status, _, body := send(request)
	var answer struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || status != 200 {
		log.Fatalf("no token: %d %s", status, body)
	}
	return answer.AccessToken
}

func main() {
	event := fmt.Sprintf(`{"id":%q,"type":"cash_in","accountId":42,"data":{"amount":"10.00"}}`, os.Args[1])
	bearer := token()
	for {
		request, _ := http.NewRequest("POST", service+"/api/payment-events", strings.NewReader(event))
		request.Header.Set("authorization", "Bearer "+bearer)
		request.Header.Set("content-type", "application/json")
		status, header, body := send(request)
		switch status {
		case 202:
			fmt.Printf("%s\n", body)
			return
		case 503: // send it again: receivers drop duplicates by their webhook-id
			seconds, _ := strconv.Atoi(header.Get("retry-after"))
			time.Sleep(time.Duration(seconds) * time.Second)
		default: // a 400 names what is wrong
			log.Fatalf("not published: %d %s", status, body)
		}
	}
}
