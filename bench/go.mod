module github.com/dacapo-go/dacapo/bench

go 1.26.0

replace github.com/dacapo-go/dacapo => ..

require (
	github.com/avast/retry-go/v5 v5.1.1
	github.com/aws/aws-sdk-go-v2 v1.48.0
	github.com/dacapo-go/dacapo v0.0.0-00010101000000-000000000000
)
