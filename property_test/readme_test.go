package property_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// trimmed returns the lines of text without indentation and empty lines.
func trimmed(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func TestTheReadmesCodeIsCodeThatRuns(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	examples, err := os.ReadFile("readme_example_test.go")
	require.NoError(t, err)
	snippets := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(readme, -1)
	assert.GreaterOrEqual(t, len(snippets), 7)
	for _, s := range snippets {
		assert.Contains(t, trimmed(string(examples)), trimmed(string(s[1])))
	}
	outputs := regexp.MustCompile(`(?m)^\s*// ?`).ReplaceAllString(string(examples), "")
	for _, s := range regexp.MustCompile("(?s)```text\n(.*?)```").FindAllSubmatch(readme, -1) {
		assert.Contains(t, trimmed(outputs), trimmed(string(s[1])), "what the README says is printed, an Example prints")
	}
}

func TestTheReadmeOpensWithTheTwoCommandsAndNamesNoGoGet(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	opening, _, _ := strings.Cut(string(readme), "\n## ")
	first := strings.Index(opening, "go run ./cmd/dacapo measure")
	second := strings.Index(opening, "go test work")
	assert.True(t, 0 < first && first < second)
	assert.NotContains(t, string(readme), "go get")
}
