package sim

import "time"

// An event is due at an instant; its number orders it among those of the same instant.
type event struct {
	at     time.Duration
	number uint64
	do     func()
}

func (e *event) before(o *event) bool {
	return e.at < o.at || e.at == o.at && e.number < o.number
}

// heap is a binary heap, the earliest event first. (container/heap would put every event
// into an interface: an allocation each, and twice the time.)
type heap []event

func (h *heap) push(e event) {
	*h = append(*h, e)
	all := *h
	i := len(all) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(&all[parent]) {
			break
		}
		all[i] = all[parent]
		i = parent
	}
	all[i] = e
}

func (h *heap) pop() event {
	all := *h
	first, last := all[0], all[len(all)-1]
	all[len(all)-1] = event{} // for the collector
	*h = all[:len(all)-1]
	if len(*h) > 0 {
		h.sink(last)
	}
	return first
}

// sink puts e into the hole at the top.
func (h heap) sink(e event) {
	i := 0
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].before(&h[child]) {
			child++
		}
		if !h[child].before(&e) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = e
}
