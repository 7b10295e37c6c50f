package program

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"
)

// longestLine is how much of a line is looked at as one; the rest is another.
const longestLine = 64 << 10

// lines hands each line of what is written to it to see, without its end.
type lines struct {
	see  func(line []byte)
	part []byte // of a line that has not ended
}

// Write never fails.
func (l *lines) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		piece, rest, ended := bytes.Cut(b, []byte{'\n'})
		if room := longestLine - len(l.part); len(piece) > room {
			piece, rest, ended = b[:room], b[room:], true
		}
		l.line(piece, ended)
		b = rest
	}
	return n, nil
}

// line takes a piece of a line, and shows the line if it has ended.
func (l *lines) line(piece []byte, ended bool) {
	if ended && len(l.part) == 0 {
		l.see(bytes.TrimSuffix(piece, []byte("\r")))
		return
	}
	if l.part = append(l.part, piece...); ended {
		l.close()
	}
}

// close shows the last line, which had no end.
func (l *lines) close() {
	if len(l.part) > 0 {
		l.see(bytes.TrimSuffix(l.part, []byte("\r")))
		l.part = l.part[:0]
	}
}

// retryAfter reads a line as the header field Retry-After (RFC 9110, section 10.2.3),
// also as curl -v and wget -S print it. A fraction of a second is read, too.
func retryAfter(line []byte, now time.Time) (wait time.Duration, ok bool) {
	const name = "retry-after:"
	line = bytes.TrimLeft(line, " \t<")
	if len(line) < len(name) || !strings.EqualFold(string(line[:len(name)]), name) {
		return 0, false
	}
	value := string(bytes.TrimSpace(line[len(name):]))
	if t, err := time.Parse(time.RFC1123, value); err == nil {
		return max(t.Sub(now), 0), true
	}
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil || !(seconds >= 0) {
		return 0, false
	}
	if seconds > math.MaxInt64/float64(time.Second) {
		return math.MaxInt64, true
	}
	return time.Duration(seconds * float64(time.Second)), true
}
