package retry

import "time"

// HintMode says what a run does with a hint that asks for a longer wait than the
// policy allows.
type HintMode uint8

// The modes of [Policy.Hints].
const (
	HintRefuse HintMode = iota // the run ends, with reason HintTooLong: a call before that time would be in vain
	HintClamp                  // the hint is cut to the greatest wait
	HintIgnore                 // every hint is ignored: the strategy gives the waits
)

// Hints sets what becomes of the hints in errors (see [After]): one above max is
// handled by the mode, and the others are followed. The default is
// Hints(HintRefuse, 5*time.Minute).
//
// A hint only ever lengthens a wait: the wait is the greater of the strategy's
// and of the hint plus what the strategy drew above its least, so that clients
// with the same hint spread upward. A hint is not a wait of the strategy: its cap
// does not limit it; max, MaxElapsed and the context's deadline do. max is above
// 0; for HintIgnore, which does not use it, it may be 0.
func (p Policy) Hints(mode HintMode, max time.Duration) Policy {
	s := p.settings()
	s.hintMode, s.hintMax, s.set = mode, max, s.set|setHints
	p.more = &s
	return p
}

// admit returns what is left of a hint under the mode, or why the run ends.
func (p *Policy) admit(hint time.Duration) (time.Duration, Reason) {
	mode, longest := HintRefuse, defaultHint
	if p.has(setHints) {
		mode, longest = p.more.hintMode, p.more.hintMax
	}
	switch {
	case mode == HintIgnore:
		return 0, 0
	case hint > longest && mode == HintRefuse:
		return 0, HintTooLong
	default:
		return min(hint, longest), 0
	}
}
