# What a contributor types. `make test` is the README's test command.
GOLANGCI := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

.PHONY: build test race lint golden bench bench-load demo cover
build:
	CGO_ENABLED=0 go build -o bin/sweep ./cmd/sweep
test:
	go test ./...
race:
	go test -race ./...
lint:
	go vet ./...
	GOOS=darwin go vet ./...
	$(GOLANGCI) run ./...
golden: ## rewrite the golden files; read the diff before you commit it
	go test ./internal/report ./internal/sweep ./cmd/sweep -update
bench: ## the figures of docs/benchmarks.md
	go test -run '^$$' -bench . -benchmem ./internal/sweep
	go test -count=1 -v -run 'TestAccuracy' ./cmd/sweep
bench-load: ## the client beside its floor and against a paced server; two idle cores, some 10 minutes
	SWEEP_LOAD=5 go test -count=1 -timeout 40m -v -run '^TestLoad$$' ./internal/bench
demo:
	go run ./cmd/sweep run sweeps/demo.yaml
cover:
	./scripts/coverage 85 matrix sweep sglang verdict
