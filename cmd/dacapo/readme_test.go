//go:build unix

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// words splits a command line as a shell does, which knows of single quotes.
func words(line string) (all []string) {
	for _, word := range regexp.MustCompile(`(?:'[^']*'|[^' ])+`).FindAllString(line, -1) {
		all = append(all, strings.ReplaceAll(word, "'", ""))
	}
	return all
}

func TestWhatTheReadmeShowsIsWhatTheCommandPrints(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	shown := regexp.MustCompile("(?s)```console\n\\$ dacapo (.*?)\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	require.NotEmpty(t, shown)
	for _, s := range shown {
		out, err := dacapo(t, words(s[1])...).CombinedOutput()
		assert.NoError(t, err, s[1])
		assert.Equal(t, s[2], string(out), s[1])
	}
}
