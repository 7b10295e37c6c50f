package main

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
)

// awsDelay has no loop of its own: only the delay, whose base is 1s.
func awsDelay() library {
	b := retry.NewExponentialJitterBackoff(5 * time.Second)
	return library{
		name:  "aws-sdk-go-v2",
		drawn: "NewExponentialJitterBackoff once; its BackoffDelay",
		eight: func() (sum time.Duration) {
			for n := range 8 {
				d, _ := b.BackoffDelay(n, nil)
				sum += d
			}
			return sum
		},
	}
}
