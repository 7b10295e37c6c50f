package storm

import (
	"fmt"
	"testing"
	"time"
)

func TestProto(t *testing.T) {
	for _, s := range Scenarios() {
		for seed := range uint64(3) {
			began := time.Now()
			r := s.Run(seed+1, nil, func(string) {})
			fmt.Println(s.Name, time.Since(began))
			if seed == 0 {
				for _, row := range r.Table.Rows {
					fmt.Printf("%-30s", row.Name)
					for _, f := range row.Figures {
						fmt.Printf(" %v (%s)", f, f.Want())
					}
					fmt.Println()
				}
			}
			n, u := r.Expected()
			fmt.Println(n, u)
		}
	}
}
