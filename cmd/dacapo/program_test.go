//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// player is a program that does what a script says: steps with "; " between them.
type player struct{ got chan os.Signal }

// play plays the script of the attempt; those after the last have the last.
func play(scripts []string) int {
	attempt, _ := strconv.Atoi(os.Getenv("DACAPO_ATTEMPT"))
	script := scripts[min(max(attempt, 1), len(scripts))-1]
	_ = os.Setenv("PID", strconv.Itoa(os.Getpid()))
	p := &player{got: make(chan os.Signal, 16)}
	for step := range strings.SplitSeq(script, "; ") {
		verb, rest, _ := strings.Cut(step, " ")
		if verb == "exit" {
			status, _ := strconv.Atoi(rest)
			return status
		}
		if verb != "spawn" && verb != "daemon" { // whose script has an environment of its own
			rest = os.ExpandEnv(rest)
		}
		if err := p.step(verb, rest); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", step, err)
			return 99
		}
	}
	return 0
}

func (p *player) step(verb, rest string) error {
	file, text, _ := strings.Cut(rest, " ")
	switch verb {
	case "out":
		fmt.Println(rest)
	case "err":
		fmt.Fprintln(os.Stderr, rest)
	case "note": // a line at the end of a file
		return appendLine(file, text)
	case "say": // into a named pipe, when somebody reads it
		return os.WriteFile(file, []byte(text), 0)
	case "hear": // all of a named pipe
		_, err := os.ReadFile(file)
		return err
	case "cat":
		_, err := io.Copy(os.Stdout, os.Stdin)
		return err
	case "take": // so many bytes of stdin
		n, _ := strconv.ParseInt(rest, 10, 64)
		_, err := io.CopyN(io.Discard, os.Stdin, n)
		return err
	case "flood": // so many MB on stdout
		return flood(rest)
	case "fill": // so many bytes on stdout
		n, _ := strconv.Atoi(rest)
		_, err := os.Stdout.WriteString(input(n))
		return err
	case "line": // one line of stdin, such as a terminal's
		var word string
		_, err := fmt.Scanln(&word)
		fmt.Println("read", word)
		return err
	default:
		return p.process(verb, rest)
	}
	return nil
}

// process does the steps that are about processes and signals.
func (p *player) process(verb, rest string) error {
	switch verb {
	case "kill": // itself
		_ = syscall.Kill(os.Getpid(), unix.SignalNum("SIG"+rest))
		select {}
	case "trap":
		signal.Notify(p.got, unix.SignalNum("SIG"+rest))
	case "ignore":
		signal.Ignore(unix.SignalNum("SIG" + rest))
	case "wait": // for a signal that is trapped
		fmt.Println("got", unix.SignalName((<-p.got).(syscall.Signal)))
	case "hang":
		time.Sleep(time.Hour)
	case "spawn", "daemon":
		return spawn(strings.ReplaceAll(rest, " & ", "; "), verb == "daemon")
	case "ready": // says a spawned program
		return os.NewFile(3, "ready").Close()
	case "group": // its process group, into a file
		return appendLine(rest, strconv.Itoa(syscall.Getpgrp()))
	case "memory": // the most that its parent has had, into a file
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", os.Getppid()))
		if err != nil {
			return err
		}
		return appendLine(rest, string(regexp.MustCompile(`VmHWM:\s*(\d+)`).FindSubmatch(status)[1]))
	default:
		return fmt.Errorf("no such step")
	}
	return nil
}

// spawn starts a program and leaves it running, when it has said that it is ready.
func spawn(script string, session bool) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	c := exec.Command(os.Args[0], script)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.ExtraFiles = []*os.File{w}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	if err := c.Start(); err != nil {
		return err
	}
	_ = w.Close()
	_, err = io.ReadAll(r)
	return err
}

func appendLine(file, text string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, text)
	_ = f.Close()
	return err
}

func flood(megabytes string) error {
	n, _ := strconv.Atoi(megabytes)
	line := []byte(strings.Repeat("x", 99) + "\n")
	block := []byte(strings.Repeat(string(line), 10_000))
	for range n {
		if _, err := os.Stdout.Write(block); err != nil {
			return err
		}
	}
	return nil
}
