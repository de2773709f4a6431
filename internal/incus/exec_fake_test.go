package incus

import (
	"context"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/coder/websocket"
)

// command is a fake of one command: it gets the streams once all are attached,
// and returns the answers to the wait for it and to a look at it afterwards.
type command func(t *testing.T, s map[string]*websocket.Conn) (wait, look string)

const execAccepted = `{"type":"async","status":"Operation created","status_code":100,"operation":"` + opPath + `","metadata":{"id":"335142ff","class":"websocket","status":"Running","status_code":103,
	"metadata":{"command":["a"],"fds":{"0":"s0","1":"s1","2":"s2","control":"sc"},"interactive":false},"err":""}}`

func returned(code string) string {
	return sync200(`{"id":"335142ff","class":"websocket","status":"Success","status_code":200,"metadata":{"return":` + code + `},"err":""}`)
}

// serveExec serves one command. body is the expected request for it.
func serveExec(t *testing.T, body string, run command) *Client {
	var mu sync.Mutex
	controlled := false // asked for: whoever asks knows of the answer before this handler goes on
	streams, names := map[string]*websocket.Conn{}, map[string]string{"s0": "0", "s1": "1", "s2": "2", "sc": "control"}
	attached, ended := make(chan struct{}), make(chan struct{})
	var wait, look string
	return serve(t, "", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			got, _ := io.ReadAll(r.Body)
			if r.URL.RequestURI() != "/1.0/instances/x/exec?project=default" || body != "" && !sameJSON(string(got), body) {
				t.Errorf("the request is %s %s", r.URL.RequestURI(), got)
			}
			_, _ = io.WriteString(w, execAccepted)
		case r.URL.Path == opPath+"/websocket":
			name := names[r.URL.Query().Get("secret")]
			mu.Lock()
			if name == "control" {
				controlled = true
			} else if !controlled {
				t.Errorf("stream %s is attached before the control stream", name)
			}
			mu.Unlock()
			conn, err := websocket.Accept(w, r, nil)
			if err != nil {
				t.Error(err)
				return
			}
			conn.SetReadLimit(-1)
			mu.Lock()
			streams[name] = conn
			all := len(streams) == 4
			mu.Unlock()
			if all {
				close(attached)
				wait, look = run(t, streams)
				close(ended)
			}
			<-ended
			// The real one closes by itself too.
			_ = conn.Close(websocket.StatusNormalClosure, "")
		case r.URL.Path == opPath+"/wait":
			<-attached
			<-ended
			if wait == "" {
				panic(http.ErrAbortHandler)
			}
			_, _ = io.WriteString(w, wait)
		case r.URL.Path == opPath:
			_, _ = io.WriteString(w, look)
		default:
			_, _ = io.WriteString(w, isStatus(Running).answer)
		}
	})
}

func say(t *testing.T, conn *websocket.Conn, parts ...string) {
	for _, p := range parts {
		if err := conn.Write(context.Background(), websocket.MessageBinary, []byte(p)); err != nil {
			t.Error(err)
		}
	}
	if err := conn.Write(context.Background(), websocket.MessageText, nil); err != nil {
		t.Error(err)
	}
}

// hear reads a stream to its end mark.
func hear(t *testing.T, conn *websocket.Conn) string {
	var all []byte
	for {
		kind, part, err := conn.Read(context.Background())
		if err != nil {
			t.Errorf("the input ends without its mark: %v", err)
			return string(all)
		}
		if kind == websocket.MessageText {
			return string(all)
		}
		all = append(all, part...)
	}
}
