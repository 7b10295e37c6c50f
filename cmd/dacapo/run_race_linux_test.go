//go:build race

package main

func init() { racing = true }
