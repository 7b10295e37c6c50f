package main

import (
	"io"

	"github.com/dacapo-go/dacapo/cmd/dacapo/internal/plan"
)

func drawPlans(w io.Writer, plans []plan.Plan) error { return nil }
