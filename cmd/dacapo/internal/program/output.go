package program

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// An output is one of the two streams of an attempt: a file that the program writes to
// itself, or a pipe whose content is copied to a writer and looked at.
type output struct {
	file   *os.File // the program's
	pipe   *os.File // where it is read; nil: it is not
	to     io.Writer
	lines  *lines // nil: nobody looks at them
	copied chan error
}

// direct is an output that the program writes to itself.
func direct(f *os.File) *output { return &output{file: f} }

func piped(to io.Writer, see func([]byte)) (*output, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	o := &output{file: w, pipe: r, to: to, copied: make(chan error, 1)}
	if see != nil {
		o.lines = &lines{see: see}
	}
	go func() { o.copied <- o.copy() }()
	return o, nil
}

// started closes the program's end, of which it has a copy by now.
func (o *output) started() {
	if o.pipe != nil {
		_ = o.file.Close()
	}
}

// finish takes what is left in the pipe, after the program and its group have ended, and
// waits for nobody else: what has left the group may hold the pipe for ever.
func (o *output) finish() error {
	if o.pipe == nil {
		return nil
	}
	_ = o.pipe.SetReadDeadline(time.Now())
	err := <-o.copied
	if o.lines != nil {
		o.lines.close()
	}
	return err
}

// copy copies the pipe until its end. Where its reader has gone it closes it, so that the
// program hears of it as it would without dacapo.
func (o *output) copy() error {
	defer func() { _ = o.pipe.Close() }()
	b := make([]byte, chunkSize)
	read := o.pipe.Read
	for {
		n, err := read(b)
		if n > 0 {
			if e := o.put(b[:n]); e != nil {
				return e
			}
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			read = o.rest()
		case err == io.EOF || errors.Is(err, syscall.EAGAIN):
			return nil
		case err != nil:
			return err
		}
	}
}

func (o *output) put(b []byte) error {
	if o.lines != nil {
		_, _ = o.lines.Write(b)
	}
	_, err := o.to.Write(b)
	return err
}

// rest returns a reader of what is in the pipe, which does not wait for more.
func (o *output) rest() func([]byte) (int, error) {
	_ = o.pipe.SetReadDeadline(time.Time{})
	raw, err := o.pipe.SyscallConn()
	return func(b []byte) (n int, _ error) {
		if err != nil {
			return 0, err
		}
		if e := raw.Read(func(fd uintptr) bool { n, err = readNow(fd, b); return true }); e != nil {
			return 0, e
		}
		if n <= 0 && err == nil {
			return 0, io.EOF
		}
		return max(n, 0), err
	}
}
