package backoff

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A text can come from outside the program, so reading it takes no longer than in
// proportion: it ends after so many joined parts, and after so many settings at
// which there was a fault.
const (
	mostParts  = 1000
	mostFaults = 10
)

// parser reads from left to right. What is not in the form ends it; a fault of
// a value does not.
type parser struct {
	text   string
	at     int // in bytes
	parts  int // joined so far
	judged int // settings at which there was a fault
	errs   []error
	faults map[string]bool // what Err said, as far as it is reported
	failed bool
}

// argument is one argument's text and where it begins.
type argument struct {
	text string
	at   int
}

// report notes a problem at a byte of the text.
func (p *parser) report(at int, format string, args ...any) {
	column := utf8.RuneCountInString(p.text[:at]) + 1
	p.errs = append(p.errs, &ParseError{column, fmt.Sprintf(format, args...)})
}

// fail reports a problem that reading cannot go on from.
func (p *parser) fail(at int, format string, args ...any) {
	if !p.failed {
		p.report(at, format, args...)
	}
	p.failed = true
}

// unexpected reports that what comes next is not what is wanted.
func (p *parser) unexpected(want string) {
	p.space()
	rest := p.text[p.at:]
	if len(rest) > 20 {
		rest = strings.ToValidUTF8(rest[:20], "") + "…"
	}
	if rest == "" {
		p.fail(p.at, "the text ends here: want %s", want)
	} else {
		p.fail(p.at, "%q: want %s", rest, want)
	}
}

func (p *parser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// accept reads the given character, if it comes next.
func (p *parser) accept(c byte) bool {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) word() argument {
	p.space()
	from := p.at
	for p.at < len(p.text) && 'a' <= p.text[p.at] && p.text[p.at] <= 'z' {
		p.at++
	}
	return argument{p.text[from:p.at], from}
}

// exactly reads as many arguments as are wanted.
func (p *parser) exactly(name argument, want ...string) []argument {
	args := p.arguments(strings.Join(want, " and "))
	if len(args) != len(want) {
		p.fail(name.at, "%s: the number of values is %d: want %d, %s", name.text, len(args), len(want), strings.Join(want, " and "))
	}
	return args
}

// arguments reads (a,b,…).
func (p *parser) arguments(want string) (args []argument) {
	if !p.accept('(') {
		p.unexpected("(" + want + ")")
		return nil
	}
	for {
		args = append(args, p.argument())
		if p.accept(')') {
			return args
		}
		if !p.accept(',') {
			p.unexpected("a comma or a closing parenthesis")
			return nil
		}
	}
}

// argument reads up to the next comma or parenthesis.
func (p *parser) argument() argument {
	p.space()
	from := p.at
	for p.at < len(p.text) && !strings.ContainsRune("(),", rune(p.text[p.at])) {
		p.at++
	}
	return argument{strings.TrimRight(p.text[from:p.at], " \t\r\n"), from}
}

func (p *parser) duration(a argument) time.Duration {
	d, err := time.ParseDuration(a.text)
	if err != nil {
		p.fail(a.at, "%q is no duration: want one such as 1.5s, 100ms or 2m", a.text)
	}
	return d
}

func (p *parser) factor(a argument) float64 {
	x, err := strconv.ParseFloat(a.text, 64)
	if err != nil || strings.Trim(a.text, "0123456789.e+-") != "" { // no hexadecimal, no words
		p.fail(a.at, "%q is no factor: want a number such as 2 or 1.5", a.text)
	}
	return x
}
