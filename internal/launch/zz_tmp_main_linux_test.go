package launch
import ("os";"testing";"context";"sweep/internal/supervise")
func TestMain(m *testing.M){ if len(os.Args)>1 && os.Args[1]=="supervise" { os.Exit(supervise.Main(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr)) }; os.Exit(m.Run()) }
