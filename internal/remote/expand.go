package remote

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// tokens are the values of the % signs in a configuration.
type tokens struct {
	alias, host, port, remoteUser, localUser, home, keyAlias string
}

// expand replaces the tokens of ssh_config(5).
func (t tokens) expand(value string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] != '%' {
			out.WriteByte(value[i])
			continue
		}
		if i++; i == len(value) {
			return "", fmt.Errorf("%q ends in a lone %%", value)
		}
		switch value[i] {
		case '%':
			out.WriteByte('%')
		case 'h':
			out.WriteString(t.host)
		case 'n':
			out.WriteString(t.alias)
		case 'p':
			out.WriteString(t.port)
		case 'r':
			out.WriteString(t.remoteUser)
		case 'u':
			out.WriteString(t.localUser)
		case 'd':
			out.WriteString(t.home)
		case 'k':
			out.WriteString(t.keyAlias)
		case 'i':
			out.WriteString(strconv.Itoa(os.Getuid()))
		case 'l', 'L':
			name, err := os.Hostname()
			if err != nil {
				return "", fmt.Errorf("%%%c: %w", value[i], err)
			}
			if value[i] == 'L' {
				name, _, _ = strings.Cut(name, ".")
			}
			out.WriteString(name)
		default:
			return "", fmt.Errorf("%%%c is not supported", value[i])
		}
	}
	return out.String(), nil
}

// path expands a file name: ~, ${VARIABLE} and tokens. A relative name starts
// at the home directory, since ssh's working directory is an accident.
func (t tokens) path(value string, getenv func(string) string) (string, error) {
	if rest, ok := strings.CutPrefix(value, "~/"); ok {
		value = "%d/" + rest
	}
	for {
		start := strings.Index(value, "${")
		if start < 0 {
			break
		}
		length := strings.IndexByte(value[start:], '}')
		if length < 0 {
			return "", fmt.Errorf("${ without } in %q", value)
		}
		name := value[start+2 : start+length]
		text := getenv(name)
		if text == "" || strings.Contains(text, "${") {
			return "", fmt.Errorf("the variable %s is not set", name)
		}
		value = value[:start] + strings.ReplaceAll(text, "%", "%%") + value[start+length+1:]
	}
	expanded, err := t.expand(value)
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(expanded) {
		expanded = filepath.Join(t.home, expanded)
	}
	return filepath.Clean(expanded), nil
}
