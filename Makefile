# Everything a change needs, with nothing but Go, make and git.
# Each target's help is the text after its "##"; `make` alone prints them.

GO          ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.7.0
FUZZTIME    ?= 20s
BENCH       ?= .
COUNT       ?= 3
PKG         ?= ./...
SOAK_RUNS   ?= 10000
# A directory of further graded queries; without one, `recall` uses the project's own set.
DATA        ?= $(wildcard ../shared/data)

# Every go.mod is a module of its own, and each one is checked. Those in NORACE
# gain nothing from the race detector.
MODULES := $(patsubst %/go.mod,%,$(shell find . -name go.mod ! -path '*/testdata/*' ! -path './.*/*' | sort))
NORACE  := ./internal/tools/report

# Version stamps need a healthy .git, and nothing here uses them.
export GOFLAGS := $(filter-out -buildvcs=%,$(shell $(GO) env GOFLAGS)) -buildvcs=false

# The race detector needs a working C compiler: try it. Without one, Go must not try either.
ifneq ($(filter check test soak,$(MAKECMDGOALS)),)
RACE := $(shell $(GO) build -race runtime/cgo >/dev/null 2>&1 && echo -race)
ifeq ($(RACE),)
export CGO_ENABLED := 0
endif
endif

# $(call each,commands) runs the commands in every module and stops at the first that
# fails; $$m is the module and $$race is -race where that is wanted.
each = @set -e; for m in $(MODULES); do echo "-- $@: $$m"; race='$(RACE)'; \
	case ' $(NORACE) ' in *" $$m "*) race=;; esac; (set -e; cd "$$m"; $(1)); done

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo check fmt lint test tidy tidy-check fuzz bench compare golden recall report soak

help: ## print this list
	@sed -n 's/^\([a-z][a-z-]*\):[^#]*## \(.*\)/\1	\2/p' Makefile | \
		while IFS='	' read -r target text; do printf '  make %-11s %s\n' "$$target" "$$text"; done

demo: ## watch real Eino agents work with both middlewares, offline and without a key
	cd examples && $(GO) run ./toolsearch
	cd examples && $(GO) run ./reduction
	cd examples && $(GO) run ./both

check: lint tidy-check test ## everything a change must pass: lint, tidy modules, every test of every module

fmt: ## format every Go file
	gofmt -w .

# staticcheck reads a module only when it was built with that module's own version of Go.
lint_each = $(GO) build -o /dev/null ./...; $(GO) vet ./...; \
	GOTOOLCHAIN=$$($(GO) env GOVERSION | cut -d' ' -f1) $(GO) run $(STATICCHECK) ./...

lint: ## gofmt, go vet and staticcheck, in every module
	@files=$$(gofmt -l .); [ -z "$$files" ] || { echo "not formatted, run 'make fmt':"; echo "$$files"; exit 1; }
	$(call each,$(lint_each))

test: ## every test of every module, shuffled, with -race where the machine has a C compiler
	@[ -n '$(RACE)' ] || echo "no C compiler works here: the tests run without the race detector"
	$(call each,$(GO) test $$race -shuffle=on -count=1 ./...)

tidy: ## go mod tidy, in every module
	$(call each,$(GO) mod tidy)

tidy-check: ## fail where `make tidy` would change something
	$(call each,$(GO) mod tidy -diff)

# go test fuzzes one target of one package at a time: list them all, then go through the list.
fuzz_each = list=$$($(GO) test -list '^Fuzz' ./...); \
	echo "$$list" | awk '/^Fuzz/ {names[n++] = $$1} /^ok/ {for (i = 0; i < n; i++) print $$2, names[i]; n = 0}' | \
	while read -r pkg name; do echo "fuzzing $$name"; $(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$pkg" </dev/null || exit 1; done

fuzz: ## run every fuzz target for FUZZTIME (20s), one after another
	$(call each,$(fuzz_each))

bench: ## every benchmark, once (BENCH=regexp chooses)
	$(call each,$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...)

compare: ## Eino's packages and ours on the same work, in one table (PKG= and COUNT= choose)
	$(GO) run ./internal/tools/compare -count $(COUNT) $(PKG)

golden: ## write the golden files anew; read the diff before you commit it
	$(call each,LEANCTX_UPDATE=1 $(GO) test -count=1 -run Golden ./...)
	@git status --short || true

recall: ## print how well each index finds tools, per catalogue (DATA=directory of more catalogues)
	LEANCTX_DATA='$(abspath $(DATA))' $(GO) test -count=1 -v -run '^TestRecallTable$$' ./toolsearch/toolsearcheval

report: ## measure, and draw the charts in docs/img
	cd internal/tools/report && $(GO) run .

soak: ## thousands of agent runs at once, a tenth of them under the race detector (SOAK_RUNS=)
	$(GO) run ./internal/tools/soak -runs $$(( $(SOAK_RUNS) - $(SOAK_RUNS) / 10 ))
	$(GO) run $(RACE) ./internal/tools/soak -runs $$(( $(SOAK_RUNS) / 10 ))
