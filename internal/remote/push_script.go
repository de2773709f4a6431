package remote

import (
	"fmt"
	"strconv"
)

// pushScript takes a file from its input. It answers on a line each: "same",
// or "send" and then one of done, write, short, differs, or what it could not
// do. Its arguments: file, directory, temporary file, size, sum, mode. The
// temporary file goes with the script, whatever ends it short of SIGKILL.
//
// dd with nothing to copy and conv=fsync is the portable way to have one file
// on the disk; where dd does not know it, the host decides when.
const pushScript = `LC_ALL=C; export LC_ALL; umask 077
file=$1 dir=$2 temp=$3 size=$4 sum=$5 mode=$6
sum() {
  if command -v sha256sum >/dev/null 2>&1; then set -- $(sha256sum <"$1")
  elif command -v shasum >/dev/null 2>&1; then set -- $(shasum -a 256 <"$1")
  elif command -v openssl >/dev/null 2>&1; then set -- $(openssl dgst -sha256 -r <"$1")
  else set -- unknown; fi
  echo "$1"
}
mkdir -p "$dir" || { echo make the directory; exit; }
if [ -d "$file" ]; then echo "replace a directory by a file"; exit; fi
if [ -f "$file" ] && [ ! -L "$file" ] && [ "$(wc -c <"$file")" -eq "$size" ] && [ "$(sum "$file")" = "$sum" ] && chmod "$mode" "$file"; then
  echo same; exit
fi
trap 'rm -f "$temp"' EXIT
trap 'exit 1' HUP INT TERM PIPE
echo send
if ! cat >"$temp"; then
  rm -f "$temp"
  set -- $(df -P -k "$dir" 2>/dev/null | tail -n 1)
  echo "write $4"; exit
fi
have=$(($(wc -c <"$temp")))
if [ "$have" -ne "$size" ]; then echo "short $have"; exit; fi
got=$(sum "$temp")
if [ "$got" = unknown ]; then how=size; elif [ "$got" = "$sum" ]; then how=sha256; else echo differs; exit; fi
chmod "$mode" "$temp" || { echo set the mode; exit; }
dd if=/dev/null of="$temp" conv=notrunc,fsync 2>/dev/null
mv -f "$temp" "$file" || { echo "put the file in place"; exit; }
echo "done $how"`

// FullError is a directory of the host without room for a file.
type FullError struct {
	Host string
	Dir  string
	Need int64 // bytes of the file
	Free int64 // bytes that are free there; -1 when not known
}

func (e *FullError) Error() string {
	free := "how much is free is not known"
	if e.Free >= 0 {
		free = amount(e.Free) + " are free"
	}
	return fmt.Sprintf("%s: no room for %s in %s: %s; free some, or name another directory", e.Host, amount(e.Need), e.Dir, free)
}

// freeBytes reads the kilobytes behind the word write.
func freeBytes(words []string) int64 {
	if len(words) == 2 {
		if kb, err := strconv.ParseInt(words[1], 10, 64); err == nil && kb >= 0 && kb < 1<<50 {
			return kb << 10
		}
	}
	return -1
}

// amount is a number of bytes for people.
func amount(n int64) string {
	for _, unit := range []struct {
		bytes int64
		name  string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.bytes {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(unit.bytes), unit.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}
