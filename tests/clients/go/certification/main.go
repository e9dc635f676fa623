// Certification serves informers and clients of client-go to the certification suite, over stdin and stdout: one JSON object a line.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

type request struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type failure struct {
	Message string `json:"message"`
	Code    int32  `json:"code,omitempty"`
}

type response struct {
	ID     int      `json:"id"`
	Result any      `json:"result,omitempty"`
	Error  *failure `json:"error,omitempty"`
}

// startParams are the parameters of start and connect.
type startParams struct {
	Server struct {
		Kubeconfig string `json:"kubeconfig"`
	} `json:"server"`
	Namespace      string `json:"namespace"`
	LabelSelector  string `json:"labelSelector"`
	WatchTimeoutMs int64  `json:"watchTimeoutMs"`
}

type callParams struct {
	Client    int               `json:"client"`
	Informer  int               `json:"informer"`
	Name      string            `json:"name"`
	Arguments []json.RawMessage `json:"arguments"`
}

// session holds what the suite has started.
type session struct {
	mutex     sync.Mutex
	count     int
	informers map[int]*informer
	clients   map[int]*client
}

func main() {
	all := &session{informers: map[int]*informer{}, clients: map[int]*client{}}
	var writing sync.Mutex
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		go func() {
			var asked request
			if err := json.Unmarshal(line, &asked); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return
			}
			result, err := all.run(asked)
			answer := response{ID: asked.ID, Result: result}
			if err != nil {
				answer.Error = &failure{Message: err.Error()}
				var status apierrors.APIStatus
				if errors.As(err, &status) {
					answer.Error.Code = status.Status().Code
				}
			}
			text, err := json.Marshal(answer)
			if err != nil {
				text, _ = json.Marshal(response{ID: asked.ID, Error: &failure{Message: err.Error()}})
			}
			writing.Lock()
			defer writing.Unlock()
			os.Stdout.Write(append(text, '\n'))
		}()
	}
}

func (s *session) run(asked request) (any, error) {
	var params callParams
	if asked.Params != nil {
		if err := json.Unmarshal(asked.Params, &params); err != nil {
			return nil, err
		}
	}
	switch asked.Method {
	case "describe":
		features := map[string]bool{"watchTimeouts": true, "streamingLists": os.Getenv("KUBE_FEATURE_WatchListClient") == "true"}
		methods := []string{"get", "list", "create", "update", "modify", "patch", "apply", "delete"}
		return map[string]any{"informer": map[string]any{"features": features}, "client": methods}, nil
	case "start", "connect":
		var start startParams
		if err := json.Unmarshal(asked.Params, &start); err != nil {
			return nil, err
		}
		return s.add(asked.Method, start)
	case "state":
		return s.informer(params.Informer).state(), nil
	case "stop":
		s.informer(params.Informer).stop()
	case "call":
		s.mutex.Lock()
		called := s.clients[params.Client]
		s.mutex.Unlock()
		return called.call(context.Background(), params.Name, params.Arguments)
	}
	return nil, nil
}

func (s *session) add(method string, start startParams) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.count++
	if method == "start" {
		started, err := startInformer(start)
		s.informers[s.count] = started
		return s.count, err
	}
	connected, err := connect(start)
	s.clients[s.count] = connected
	return s.count, err
}

func (s *session) informer(number int) *informer {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.informers[number]
}
