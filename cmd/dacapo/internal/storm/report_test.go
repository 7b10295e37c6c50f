package storm

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAFigureIsHeldAgainstWhatIsExpected(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		f    Figure
		want string
		met  bool
	}{
		{figure(7, "%.1f"), "", true},
		{figure(104, "%.0f").near(100, 0.04), "100", true},
		{figure(104.1, "%.0f").near(100, 0.04), "100", false},
		{figure(95.9, "%.0f").near(100, 0.04), "100", false},
		{figure(0, "%.3f").within(0, 0.01), "0.000", true},
		{figure(-0.02, "%.3f").within(0, 0.01), "0.000", false},
		{figure(inf, "%.3f").within(5, 1), "5.000", false},
		{figure(4, "%.0f").most(4), "≤ 4", true},
		{figure(4.01, "%.0f").most(4), "≤ 4", false},
		{figure(inf, "%.0f").most(4), "≤ 4", false},
		{figure(inf, "%.0f").never(), "never", true},
		{figure(140, "%.0f").never(), "never", false},
		{figure(math.NaN(), "%.0f").most(4), "≤ 4", false},
	} {
		assert.Equal(t, c.want, c.f.Want())
		assert.Equal(t, c.met, c.f.Met(), "%v %s", c.f, c.want)
		assert.Equal(t, c.want != "", c.f.Judged())
	}
}

func TestAReportNamesWhatIsNotAsExpected(t *testing.T) {
	r := Report{Table: Table{Columns: []string{"policy", "a", "b"}, Rows: []Row{
		{"x", []Figure{figure(1, "%.0f").within(1, 0), figure(2, "%.0f")}},
		{"y", []Figure{figure(1, "%.0f"), figure(math.Inf(1), "%.0f s").within(3, 1)}},
	}}}
	n, unmet := r.Expected()
	assert.Equal(t, 2, n)
	assert.Equal(t, []string{"y: b: never, expected 3 s"}, unmet)
}

func TestAFigureAsJSON(t *testing.T) {
	text, err := json.Marshal([]Figure{figure(1.5, "%.1f"), figure(2, "%.0f").most(1), figure(math.Inf(1), "").never()})
	require.NoError(t, err)
	assert.JSONEq(t, `[{"value": 1.5}, {"value": 2, "want": "≤ 1", "met": false}, {"value": null, "want": "never", "met": true}]`, string(text))
}

func TestAChartCountsPerSecond(t *testing.T) {
	c := newChart(Variant{Name: "x"}, 2*time.Second, 4*time.Second, 500*ms)
	for _, at := range []time.Duration{0, 1999 * ms, 2 * time.Second, 2499 * ms, 2500 * ms, 3999 * ms, 4 * time.Second, time.Hour} {
		c.count(c.Goodput, at)
	}
	assert.Equal(t, []float64{4, 2, 0, 2}, c.Goodput)
	assert.Equal(t, []float64{0, 0, 0, 0}, c.Offered)
}
