//go:build !race && !386

package property_test

const (
	draws  = 1_000_000 // waits of each distribution
	checks = "3000"
)
