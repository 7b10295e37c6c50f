package program

import (
	"fmt"
	"strconv"
	"strings"
)

// Statuses are ranges of exit statuses.
type Statuses []statusRange

type statusRange struct{ from, to int }

// ParseStatuses reads a list of statuses, ranges of them and names of signals, such as
// 1,75,100-110,TERM. A signal stands for 128 and its number, which is the status of what
// it ended.
func ParseStatuses(text string) (all Statuses, err error) {
	for item := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(item), "-")
		var r statusRange
		if r.from, err = parseStatus(first); err != nil {
			return nil, err
		}
		r.to = r.from
		if isRange {
			if r.to, err = parseStatus(last); err != nil {
				return nil, err
			}
		}
		if r.to < r.from {
			return nil, fmt.Errorf("%q: want a range from the lower to the higher status", item)
		}
		all = append(all, r)
	}
	return all, nil
}

func parseStatus(text string) (int, error) {
	text = strings.TrimSpace(text)
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= 255 {
		return n, nil
	}
	if n := signalNumber("SIG" + strings.TrimPrefix(strings.ToUpper(text), "SIG")); n > 0 {
		return bySignal + n, nil
	}
	return 0, fmt.Errorf("%q is no status: want a number from 1 to 255 or the name of a signal, such as 1,75,100-110,TERM", text)
}

func (s Statuses) has(status int) bool {
	for _, r := range s {
		if r.from <= status && status <= r.to {
			return true
		}
	}
	return false
}
