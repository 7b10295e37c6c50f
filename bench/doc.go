// Package bench holds the toolkit against its peers: the same work, each as its
// documentation says, side by side in one run. Only ratios within a run mean anything:
//
//	go test -bench . -count 6 ./bench
//
// It is a module of its own, so that no peer gets into the module of the toolkit.
package bench
