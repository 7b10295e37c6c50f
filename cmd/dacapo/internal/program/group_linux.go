package program

import (
	"bytes"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// adopt makes dacapo the parent of what the program leaves behind, and not init: so it is
// known for certain when all have gone, also in a container whose init reaps nobody.
func adopt() <-chan os.Signal {
	if unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil {
		return nil
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	return ended
}

// reap reaps the adopted that have ended.
func (g *group) reap() {
	self := os.Getpid()
	for _, p := range processes() {
		if p.parent == self && p.state == 'Z' && p.pid != g.running {
			_, _ = syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil)
		}
	}
}

// descendants returns what has been started and is in dacapo's session.
func (g *group) descendants() (all []process) {
	children, session := map[int][]process{}, 0
	for _, p := range processes() {
		children[p.parent] = append(children[p.parent], p)
		if p.pid == os.Getpid() {
			session = p.session
		}
	}
	next := []int{os.Getpid()}
	for len(next) > 0 {
		found := children[next[0]]
		next = next[1:]
		for _, p := range found {
			if !g.others[p.pid] {
				next, all = append(next, p.pid), append(all, p)
			}
		}
	}
	return slices.DeleteFunc(all, func(p process) bool { return p.session != session })
}

// process is what the system knows of one.
type process struct {
	pid, parent, session int
	state                byte
}

// processes returns all processes: see proc(5).
func processes() (all []process) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		text, _ := os.ReadFile("/proc/" + name + "/stat")
		if fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]); len(fields) > 3 {
			all = append(all, process{pid, digits(fields[1]), digits(fields[3]), fields[0][0]})
		}
	}
	return all
}

func digits(b []byte) int {
	n, _ := strconv.Atoi(string(b))
	return n
}
