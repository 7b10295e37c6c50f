package program

import (
	"io"
	"os"
)

// stdin gives every attempt the same input. A file is rewound, a terminal or another
// device is the program's own, and what can be read only once is kept as it is read.
type stdin struct {
	file  *os.File // what the program gets itself; nil: what is kept
	start int64    // of a file, where it is rewound to; below 0: it is not
	from  io.Reader
	limit int64

	chunks chan []byte // what is read from from, a piece at a time; closed at its end
	kept   []byte
	over   bool // more was read than may be kept, and so nothing is
}

// chunkSize is how far stdin is read ahead of the program.
const chunkSize = 32 << 10

// newStdin looks what in is. Where there is no second attempt it need not be kept.
func newStdin(in io.Reader, limit int64, again bool) *stdin {
	s := &stdin{from: in, limit: limit, start: -1}
	file, isFile := in.(*os.File)
	if !isFile {
		return s
	}
	info, err := file.Stat()
	switch {
	case err != nil, !again, info.Mode()&os.ModeCharDevice != 0, info.IsDir():
		s.file = file
	case info.Mode().IsRegular():
		if s.start, err = file.Seek(0, io.SeekCurrent); err == nil {
			s.file = file
		}
	}
	return s
}

// tooLong reports whether the input cannot be given again. It is asked between attempts.
func (s *stdin) tooLong() bool { return s.over }

// open returns the file that is an attempt's stdin. The attempt calls opened when the
// program has its own copy of the file, and done when the program has ended.
func (s *stdin) open() (file *os.File, opened, done func(), err error) {
	nothing := func() {}
	if s.file != nil {
		if s.start >= 0 {
			_, err = s.file.Seek(s.start, io.SeekStart)
		}
		return s.file, nothing, nothing, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nothing, nothing, err
	}
	if s.chunks == nil {
		s.chunks = make(chan []byte)
		go s.read()
	}
	stop, idle := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(idle)
		_ = s.feed(w, stop) // a program need not read its input
		_ = w.Close()
	}()
	return r, func() { _ = r.Close() }, func() { _ = w.Close(); close(stop); <-idle }, nil
}

// read reads all input, for as many attempts as there are. It goes on after them: what is
// read from a pipe cannot be interrupted.
func (s *stdin) read() {
	defer close(s.chunks)
	for {
		b := make([]byte, chunkSize)
		n, err := s.from.Read(b)
		if n > 0 {
			s.chunks <- b[:n]
		}
		if err != nil {
			return
		}
	}
}

// feed gives a program what was kept and then what comes, until it is stopped or does
// not want more.
func (s *stdin) feed(w io.Writer, stop <-chan struct{}) error {
	if _, err := w.Write(s.kept); err != nil {
		return err
	}
	for {
		select {
		case b, more := <-s.chunks:
			if !more {
				return nil
			}
			s.keep(b)
			if _, err := w.Write(b); err != nil {
				return err
			}
		case <-stop:
			return nil
		}
	}
}

func (s *stdin) keep(b []byte) {
	if s.over = s.over || int64(len(s.kept)+len(b)) > s.limit; s.over {
		s.kept = nil
		return
	}
	s.kept = append(s.kept, b...)
}
