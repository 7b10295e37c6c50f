package budget

import (
	"iter"
	"sync"
)

// Keyed holds a [Budget] for each target: a host, a shard, a tenant. So one target that is
// down costs the others no retries. The zero Keyed has the rules of [Default]; make one
// with others by [NewKeyed]. It is safe for concurrent use, and must not be copied.
//
// A budget is kept until it is deleted: take targets as keys, of which there are few, and
// not calls.
type Keyed[K comparable] struct {
	config  Config
	budgets sync.Map // of *Budget, by K
}

// NewKeyed returns a Keyed whose budgets have the rules of c. A fault in c is one of every
// policy that has one of them.
func NewKeyed[K comparable](c Config) *Keyed[K] { return &Keyed[K]{config: c} }

// For returns the budget of a target, always the same one. The first call for a target
// makes it.
func (k *Keyed[K]) For(key K) *Budget {
	b, ok := k.budgets.Load(key)
	if !ok {
		b, _ = k.budgets.LoadOrStore(key, New(k.config))
	}
	return b.(*Budget)
}

// Delete forgets the budget of a target. A policy that has it keeps it; For makes a new
// one, which is full.
func (k *Keyed[K]) Delete(key K) { k.budgets.Delete(key) }

// All goes over the targets that have a budget, in no order, for metrics.
func (k *Keyed[K]) All() iter.Seq2[K, *Budget] {
	return func(yield func(K, *Budget) bool) {
		k.budgets.Range(func(key, b any) bool { return yield(key.(K), b.(*Budget)) })
	}
}
