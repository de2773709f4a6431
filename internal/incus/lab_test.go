package incus

import (
	"context"
	"os"
	"testing"
	"time"
)

// labClient is a client of the real daemon of the lab; the test is skipped
// where there is none.
func labClient(t *testing.T) *Client {
	t.Helper()
	socket := os.Getenv("LAB_H0_INCUS_SOCKET")
	if os.Getenv("SWEEP_LAB") == "" || socket == "" {
		t.Skip("needs a lab with Incus: SWEEP_LAB=1 and LAB_H0_INCUS_SOCKET")
	}
	return New(socket, "")
}

// labInstance makes a container of the lab's image, started, and removes it
// afterwards.
func labInstance(t *testing.T, c *Client, name string) string {
	t.Helper()
	name = "incus-test-" + name
	labRemove(t, c, name)
	t.Cleanup(func() { labRemove(t, c, name) })
	if err := c.Create(t.Context(), CreateRequest{Name: name, Image: labImage, Config: map[string]string{"user.sweep.test": name}}); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	return name
}

// labImage is the alias of an image with busybox in it.
const labImage = "tiny"

func labRemove(t *testing.T, c *Client, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := c.Instance(ctx, name); err != nil {
		return
	}
	_ = c.Stop(ctx, name, true, 0)
	if err := c.Delete(ctx, name); err != nil {
		t.Error(err)
	}
}
