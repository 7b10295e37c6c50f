package main

import "strings"

// refreshed is the README with the lines of its cost section, of the workloads measured, as
// they are now.
func refreshed(readme string, rows []row) string {
	before, after, found := strings.Cut(readme, "\n## Cost\n")
	if !found {
		return readme
	}
	section, rest, _ := strings.Cut(after, "\n## ")
	lines := strings.Split(section, "\n")
	for i, line := range lines {
		for _, r := range rows {
			if strings.HasPrefix(line, "| "+r.id+" |") {
				lines[i] = r.summary()
			}
		}
	}
	return before + "\n## Cost\n" + strings.Join(lines, "\n") + "\n## " + rest
}

// costLines are the rows of the tables in the README's cost section, without their heads.
func costLines(readme string) []string {
	_, after, _ := strings.Cut(readme, "\n## Cost\n")
	section, _, _ := strings.Cut(after, "\n## ")
	var rows []string
	for line := range strings.Lines(section) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "| |") && !strings.HasPrefix(line, "|---") {
			rows = append(rows, line)
		}
	}
	return rows
}
