package property_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// packages are the exported packages of the core module.
var packages = []string{"backoff", "retry", "retry/budget", "retry/retrytest", "future", "stream"}

// wellKnown methods say no more than their interface does.
var wellKnown = []string{"String", "GoString", "Error", "Unwrap"}

func TestEveryExportedNameIsDocumentedAndHasAnExampleThatRuns(t *testing.T) {
	for _, name := range packages {
		pkg := load(t, name)
		checked := 0
		check := func(name, doc string, examples []*docExample, wantsExample bool) {
			checked++
			assert.NotEmpty(t, doc, "%s.%s is documented", pkg.Name, name)
			runs := slices.ContainsFunc(examples, func(e *docExample) bool { return e.Output != "" || e.EmptyOutput })
			assert.True(t, runs || !wantsExample, "%s.%s has an Example with output", pkg.Name, name)
		}
		assert.NotEmpty(t, pkg.Doc)
		for _, f := range pkg.Funcs {
			check(f.Name, f.Doc, f.Examples, true)
		}
		for _, typ := range pkg.Types {
			check(typ.Name, typ.Doc, typ.Examples, true)
			for _, f := range typ.Funcs {
				check(f.Name, f.Doc, f.Examples, true)
			}
			for _, m := range typ.Methods {
				check(typ.Name+"."+m.Name, m.Doc, m.Examples, !slices.Contains(wellKnown, m.Name))
			}
			for _, v := range slices.Concat(typ.Consts, typ.Vars) {
				check(strings.Join(v.Names, ", "), v.Doc, nil, false)
			}
		}
		for _, v := range slices.Concat(pkg.Consts, pkg.Vars) {
			check(strings.Join(v.Names, ", "), v.Doc, nil, false)
		}
		assert.Greater(t, checked, 15, "the names were found")
	}
}

type docExample = doc.Example

// load reads a package of this module with its tests.
func load(t *testing.T, name string) *doc.Package {
	files, err := filepath.Glob(filepath.Join("..", name, "*.go"))
	require.NoError(t, err)
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, file := range files {
		f, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
		require.NoError(t, err)
		parsed = append(parsed, f)
	}
	pkg, err := doc.NewFromFiles(fset, parsed, "github.com/dacapo-go/dacapo/"+name)
	require.NoError(t, err)
	return pkg
}
