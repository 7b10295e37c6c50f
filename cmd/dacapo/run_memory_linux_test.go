package main

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// racing reports that the race detector takes memory of its own.
var racing bool

func TestAHundredMegabytesOfOutputTakeNoMemory(t *testing.T) {
	if racing {
		t.Skip("memory is the race detector's")
	}
	const most = 64 << 10 // KiB
	for _, flags := range []string{"", "--hold", "--on-output never"} {
		file := filepath.Join(t.TempDir(), "memory")
		c := dacapo(t, running(t, fast+"--retries 0 "+flags, "flood 100; memory "+file+"; exit 3")...)
		var all counter
		c.Stdout = &all
		assert.ErrorContains(t, c.Run(), "exit status 3", flags)
		assert.Equal(t, counter(100_000_000), all, flags)
		had, err := strconv.Atoi(noted(t, file)[0])
		require.NoError(t, err)
		t.Logf("%q: %d KiB", flags, had)
		assert.Less(t, had, most, flags)
	}
}

// counter counts what is written to it.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
