package program

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"sync"
)

// inMemory is how much a spool holds before it turns to a temporary file.
const inMemory = 1 << 20

// A spool holds what is written to its streams, in the order in which it came: each piece
// with the number of its stream and its length in front.
type spool struct {
	mu     sync.Mutex
	memory []byte
	file   *os.File // what came after memory was full; nil: none did
}

const pieceHead = 5

// stream is one of the writers of a spool.
type stream struct {
	spool  *spool
	number byte
}

// Write holds b.
func (s stream) Write(b []byte) (int, error) {
	p := s.spool
	p.mu.Lock()
	defer p.mu.Unlock()
	head := binary.BigEndian.AppendUint32([]byte{s.number}, uint32(len(b)))
	if p.file == nil && len(p.memory)+len(head)+len(b) <= inMemory {
		p.memory = append(append(p.memory, head...), b...)
		return len(b), nil
	}
	return p.spill(head, b)
}

func (p *spool) spill(head, b []byte) (n int, err error) {
	if p.file == nil {
		if p.file, err = os.CreateTemp("", "dacapo-"); err != nil {
			return 0, err
		}
	}
	if _, err = p.file.Write(head); err != nil {
		return 0, err
	}
	return p.file.Write(b)
}

// reset forgets what is held.
func (p *spool) reset() error {
	p.memory = p.memory[:0]
	return p.close()
}

// writeTo writes what is held, each stream to its own writer.
func (p *spool) writeTo(writers ...io.Writer) error {
	if err := replay(bytes.NewReader(p.memory), writers); err != nil || p.file == nil {
		return err
	}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return replay(bufio.NewReader(p.file), writers)
}

func replay(from io.Reader, writers []io.Writer) error {
	for {
		var head [pieceHead]byte
		if _, err := io.ReadFull(from, head[:]); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		if _, err := io.CopyN(writers[head[0]], from, int64(binary.BigEndian.Uint32(head[1:]))); err != nil {
			return err
		}
	}
}

// close removes the temporary file.
func (p *spool) close() error {
	if p.file == nil {
		return nil
	}
	f := p.file
	p.file = nil
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
