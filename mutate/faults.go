package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
)

// A fault is a small change of a source file.
type fault struct {
	file     string
	line     int
	from, to int // the bytes that are replaced
	old, new string
}

func (f fault) String() string {
	if f.new == "" {
		return fmt.Sprintf("%s:%d: without %q", f.file, f.line, f.old)
	}
	return fmt.Sprintf("%s:%d: %q for %q", f.file, f.line, f.new, f.old)
}

// in returns the source with the fault in it.
func (f fault) in(source []byte) []byte {
	return []byte(string(source[:f.from]) + f.new + string(source[f.to:]))
}

// swaps are what stands for an operator or a word in a fault.
var swaps = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
	token.LAND: "||", token.LOR: "&&", token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*",
	token.AND: "|", token.OR: "&", token.SHL: ">>", token.SHR: "<<",
	token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+=", token.INC: "--", token.DEC: "++",
	token.BREAK: "continue", token.CONTINUE: "break",
}

// faultsOf returns the faults that the source can have.
func faultsOf(file string, source []byte) ([]fault, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var all []fault
	replace := func(from, to token.Pos, text string) {
		a, b := set.Position(from), set.Position(to)
		all = append(all, fault{file, a.Line, a.Offset, b.Offset, string(source[a.Offset:b.Offset]), text})
	}
	swap := func(at token.Pos, op token.Token) {
		if text := swaps[op]; text != "" {
			replace(at, at+token.Pos(len(op.String())), text)
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok != token.IMPORT
		case *ast.BinaryExpr:
			swap(n.OpPos, n.Op)
		case *ast.IncDecStmt:
			swap(n.TokPos, n.Tok)
		case *ast.AssignStmt:
			swap(n.TokPos, n.Tok)
			if n.Tok == token.ASSIGN {
				replace(n.Pos(), n.End(), "")
			}
		case *ast.BranchStmt:
			swap(n.TokPos, n.Tok)
		case *ast.ExprStmt, *ast.DeferStmt:
			replace(n.Pos(), n.End(), "")
		case *ast.UnaryExpr:
			if n.Op == token.NOT {
				replace(n.OpPos, n.X.Pos(), "")
			}
		case *ast.IfStmt:
			replace(n.Cond.Pos(), n.Cond.End(), "!("+text(set, source, n.Cond)+")")
		case *ast.CaseClause:
			if len(n.List) > 1 {
				replace(n.List[0].Pos(), n.List[1].Pos(), "")
			}
		case *ast.Ident:
			if n.Name == "true" || n.Name == "false" {
				replace(n.Pos(), n.End(), strconv.FormatBool(n.Name == "false"))
			}
		case *ast.BasicLit:
			if i, err := strconv.Atoi(n.Value); err == nil && n.Kind == token.INT {
				replace(n.Pos(), n.End(), strconv.Itoa(i+1))
			}
		}
		return true
	})
	return all, nil
}

func text(set *token.FileSet, source []byte, n ast.Node) string {
	return string(source[set.Position(n.Pos()).Offset:set.Position(n.End()).Offset])
}
