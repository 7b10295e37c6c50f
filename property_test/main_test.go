package property_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain has rapid check more cases than its 100, which are over in a moment,
// unless the environment or the command line says how many.
func TestMain(m *testing.M) {
	if _, given := os.LookupEnv("RAPID_CHECKS"); !given {
		_ = flag.Set("rapid.checks", checks)
	}
	m.Run()
}
