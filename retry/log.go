package retry

import (
	"context"
	"log/slog"
)

// Log returns a hook for [Policy.Events] that logs to l: that a retry is
// scheduled, and how a run ended, at level Info; a run that ended without success,
// at level Warn, unless it was [Abandoned]; every other step, and a run that
// succeeded at its first call, at level Debug. Give each policy a logger of its own
// to tell them apart: Log(logger.With("op", "find")). A nil logger gives a nil
// hook, which Events refuses.
func Log(l *slog.Logger) func(context.Context, Event) {
	if l == nil {
		return nil
	}
	return func(ctx context.Context, e Event) {
		if level := e.level(); l.Enabled(ctx, level) {
			l.LogAttrs(ctx, level, "retry: "+e.Kind.String(), e.attrs()...)
		}
	}
}

func (e Event) level() slog.Level {
	switch {
	case e.Kind == Finished && e.Reason != Succeeded && e.Reason != Abandoned:
		return slog.LevelWarn
	case e.Kind == Scheduled, e.Kind == Finished && (e.Call > 1 || e.Reason == Abandoned):
		return slog.LevelInfo
	default:
		return slog.LevelDebug
	}
}

func (e Event) attrs() []slog.Attr {
	all := []slog.Attr{slog.Int("call", e.Call), slog.Duration("elapsed", e.Elapsed)}
	if e.Err != nil {
		all = append(all, slog.Any("error", e.Err))
	}
	switch e.Kind {
	case Scheduled:
		all = append(all, slog.Duration("delay", e.Delay), slog.String("source", e.Source.String()))
	case Finished:
		all = append(all, slog.String("reason", e.Reason.String()))
	}
	return all
}
