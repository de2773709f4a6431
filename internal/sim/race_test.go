//go:build race

package sim

// raced: the race detector makes everything several times slower, so times are
// not worth a look.
const raced = true
