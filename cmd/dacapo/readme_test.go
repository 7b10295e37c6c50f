package main

import (
	"regexp"
	"strings"
)

// words splits a command line as a shell does, which knows of single quotes.
func words(line string) (all []string) {
	for _, word := range regexp.MustCompile(`(?:'[^']*'|[^' ])+`).FindAllString(line, -1) {
		all = append(all, strings.ReplaceAll(word, "'", ""))
	}
	return all
}
