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
		status, out, errs := command(words(s[1])...)
		assert.Zero(t, status, s[1])
		assert.Empty(t, errs, s[1])
		assert.Equal(t, s[2], out, s[1])
	}
}
