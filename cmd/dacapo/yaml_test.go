package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/dacapo-go/dacapo/backoff"
	"github.com/dacapo-go/dacapo/retry"
)

// A YAML library reads and writes policies without knowing them, as any library
// does that looks for encoding.TextUnmarshaler.
func TestPoliciesGoThroughYAML(t *testing.T) {
	type config struct {
		Retry retry.Policy
		Waits map[string]backoff.Strategy
	}
	var read config
	require.NoError(t, yaml.Unmarshal([]byte(`
retry: retries=5 backoff=exp(100ms,2).cap(5s).jitter(20%) wrap-errors
waits:
  poll: constant(1m)
`), &read))
	assert.Equal(t, "retries=5 backoff=exp(100ms,2).cap(5s).jitter(20%) wrap-errors", read.Retry.String())
	assert.Equal(t, time.Minute, read.Waits["poll"].Delay(1, 0, 0))

	out, err := yaml.Marshal(read)
	require.NoError(t, err)
	var again config
	require.NoError(t, yaml.Unmarshal(out, &again))
	assert.Equal(t, read.Retry.String(), again.Retry.String())

	assert.ErrorContains(t, yaml.Unmarshal([]byte("retry: retries=five"), &read), "column 9")
}
