# Everything a change needs, with nothing but Go, make and git.
# Each target's help is the text after its "##"; `make` alone prints them.

GO          ?= go
STATICCHECK_VERSION := v0.7.0
FUZZTIME    ?= 20s
BENCH       ?= .
# A commit that `compare` measures the working tree against; without one, Eino's packages.
BASE        ?=
COUNT       ?= $(if $(BASE),10,3)
PKG         ?= ./...
SOAK_RUNS   ?= 10000
# Random runs of each area that `fingerprint` hashes.
RUNS        ?= 3000
# A directory of further graded queries; without one, `recall` uses the project's own set.
DATA        ?= $(wildcard ../shared/data)
# The half of each set for the table of language pairs: dev, to tune on, or heldout, to judge by.
HALF        ?= dev
# RATEL=1 lets `recall` install @ratel-ai/sdk into a temporary directory and measure it, which takes ten minutes with all
# catalogs. This version runs on older Linux systems, too: 0.4.1 needs glibc 2.39.
RATEL       ?=
RATEL_VERSION ?= 0.1.5

# Every go.mod is a module of its own. The tests of the product and of what users require run
# under the race detector as well; demos and tools gain nothing from it.
# The root comes first: it takes longest, and what runs beside it should not wait for it in the end.
MODULES := . $(filter-out .,$(patsubst %/go.mod,%,$(shell find . -name go.mod ! -path '*/testdata/*' ! -path './.*/*' | sort)))
PRODUCT := $(filter-out ./demo ./examples% ./internal/%,$(MODULES))

# Version stamps need a healthy .git, and nothing here uses them. With -trimpath, what was compiled,
# vetted and linted in one clone counts in every other clone on the machine.
PLAIN   := $(filter-out -buildvcs=% -trimpath,$(shell $(GO) env GOFLAGS)) -buildvcs=false
export GOFLAGS := $(PLAIN) -trimpath

# $(call side,targets) runs targets side by side, JOBS at once: one more than there are processors,
# since some of them wait. Each says when it begins, and what it prints comes in one piece.
JOBS ?= $(shell echo $$(($$(nproc 2>/dev/null || echo 2) + 1)))
side  = @$(MAKE) --no-print-directory -j$(JOBS) $(1)
lint@% test@% race@% newest@% systems@% tidy-check@% oldest-root newest-root licences einos-tests conformance test-workshop eino-next: private SHELL := $(CURDIR)/internal/dev/step.sh
lint@% test@% race@% newest@% systems@% tidy-check@% oldest-root newest-root licences einos-tests conformance test-workshop eino-next: export STEP = $@

# $(call each,commands) runs the commands in one module after another and stops at the first that fails.
each = @set -e; for m in $(MODULES); do echo "-- $@: $$m"; (set -e; cd "$$m"; $(1)); done

.DEFAULT_GOAL := help
.PHONY: help demo check steps fmt lint test test-rest oldest oldest-root newest newest-root systems tidy tidy-check fuzz bench compare fingerprint golden recall previews report thrift soak release

help: ## print this list
	@sed -n 's/^\([a-z][a-z-]*\):[^#]*## \(.*\)/\1	\2/p' Makefile | \
		while IFS='	' read -r target text; do printf '  make %-11s %s\n' "$$target" "$$text"; done

demo: ## watch real Eino agents work with both middlewares and with programs, offline and without a key
	@cd examples && $(GO) run ./toolsearch && echo && $(GO) run ./reduction && echo && (cd programs && $(GO) run .) && echo && $(GO) run ./both

check: ## everything a change must pass: the tests of the product, lint, tidy modules, the oldest and newest Go, other systems, licences, Eino's own tests, every other test
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && export STEPS="$$dir" STEPS_OF=$(words $(STEP_NAMES)) && \
		for part in test lint tidy-check oldest newest systems licences einos-tests conformance test-rest; do $(MAKE) --no-print-directory THOROUGH=1 $$part || exit 1; done

# What `make check` does, for its count.
STEP_NAMES = $(addprefix test@,$(MODULES)) $(addprefix lint@,$(MODULES)) $(addprefix tidy-check@,$(MODULES)) \
	oldest-root newest-root $(addprefix newest@,$(NEWER)) $(addprefix systems@,$(SYSTEMS)) licences einos-tests conformance test-workshop $(addprefix race@,$(PRODUCT))

fmt: ## format every Go file
	gofmt -w .

# staticcheck reads a module only when it was built with that module's own version of Go.
GOVERSION   := $(shell $(GO) env GOVERSION | cut -d' ' -f1)
STATICCHECK := $(CURDIR)/.bin/$(GOVERSION)/staticcheck@$(STATICCHECK_VERSION)

.PHONY: staticcheck
staticcheck:
	@[ -x '$(STATICCHECK)' ] || { GOTOOLCHAIN=$(GOVERSION) GOBIN='$(dir $(STATICCHECK))' $(GO) install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION) && \
		mv '$(dir $(STATICCHECK))staticcheck' '$(STATICCHECK)'; }

lint: staticcheck ## gofmt, go vet and staticcheck, in every module
	@files=$$(gofmt -l .); [ -z "$$files" ] || { echo "not formatted, run 'make fmt':"; echo "$$files"; exit 1; }
	$(call side,$(addprefix lint@,$(MODULES)))

# A fault that was found before in another clone is reported with the path it has there, so whatever
# fails is done once more without -trimpath.
$(addprefix lint@,$(MODULES)): lint@%: staticcheck
	@cd $*; lint() { $(GO) vet ./... && '$(STATICCHECK)' ./...; }; \
		lint >/dev/null 2>&1 || { export GOFLAGS='$(PLAIN)'; lint; }

# The go line of a go.mod does not keep newer library calls out. Nobody builds the repository's own
# tools with another Go than its developers'.
OLDEST ?= go1.26.0

oldest: ## compile and run the root module with the oldest Go that it promises (OLDEST=go1.26.0), where that can be had
	@if GOTOOLCHAIN=$(OLDEST) $(GO) version >/dev/null 2>&1; then $(MAKE) --no-print-directory oldest-root; \
	else echo "$(OLDEST) cannot be had here: nothing was compiled with it"; fi

oldest-root:
	@GOTOOLCHAIN=$(OLDEST) $(GO) build ./... && GOTOOLCHAIN=$(OLDEST) $(GO) test $(WHOLE) -short . ./toolsearch ./reduction ./store

# The Go that users will have next, or have already.
NEWEST ?= go1.27.4
NEWER  := $(filter-out . ./internal/%,$(MODULES))

newest: ## test the root module and compile the others with the newest Go (NEWEST=go1.27.4), where that can be had
	@if GOTOOLCHAIN=$(NEWEST) $(GO) version >/dev/null 2>&1; then $(MAKE) --no-print-directory -j$(JOBS) newest-root $(addprefix newest@,$(NEWER)); \
	else echo "$(NEWEST) cannot be had here: nothing was compiled with it"; fi

newest-root:
	@GOTOOLCHAIN=$(NEWEST) $(LESS_GC) $(GO) test $(WHOLE) -short $$($(GO) list ./... | grep -v /internal/dev/)

# `go list -export` compiles, and links nothing. What it makes is never run, so nothing is optimized.
$(addprefix newest@,$(MODULES)): newest@%:
	@cd $* && GOTOOLCHAIN=$(NEWEST) $(GO) list -export -gcflags='all=-N -l' ./... >/dev/null

# WebAssembly, files, locks and processes differ there. Each system compiles Eino once more, which takes
# two minutes of processor time, so the check has one of each kind: SYSTEMS="windows/arm64 darwin/amd64"
# are the others.
SYSTEMS ?= windows/amd64 darwin/arm64
systems: ## vet what most users import for systems that no test runs on (SYSTEMS="windows/amd64 darwin/arm64")
	$(call side,$(addprefix systems@,$(SYSTEMS)))

$(addprefix systems@,$(SYSTEMS)): systems@%:
	@export CGO_ENABLED=0 GOOS=$(*D) GOARCH=$(*F); for m in $(QUICK); do \
		(cd $$m && $(GO) vet -gcflags='all=-N -l' $$($(GO) list ./... | grep -v /internal/dev/)) || exit 1; done

# A busy machine may take several times as long as a quiet one: a limit is against what hangs.
TIMEOUT := -timeout 30m
# Nobody debugs these programs: without what a debugger reads, linking takes a quarter less.
LINK    := -ldflags=-w
# Tests are short programs that leave much garbage: collecting it less often saves a sixth of their time.
LESS_GC := GOGC=400
# `make lint` has vetted the tests.
WHOLE   := $(TIMEOUT) $(LINK) -vet=off -shuffle=on -count=1

# What most users import. The modules of clouds, telemetry and the command take long to compile.
QUICK := $(filter . ./reduction/jq ./toolsearch/mcptools ./programs/javascript,$(MODULES))

test: ## the tests of the product, in minutes from empty caches
	$(call side,$(addprefix test@,$(QUICK)))
	@[ -n '$(THOROUGH)' ] || echo "not run here, but by make check: the long form of tests with random input, the race detector, linters, and the tests of the workshop (internal/dev) and of$(foreach m,$(filter-out $(QUICK),$(MODULES)), $(m:./%=%))"

test-rest: ## every test that `make test` leaves out; the product's with -race as well, where the machine has a C compiler
	@[ -n '$(RACE)' ] || echo "no C compiler works here: the tests run without the race detector"
	$(call side,$(if $(RACE),$(addprefix race@,$(PRODUCT))) $(addprefix test@,$(filter-out $(QUICK) ./internal/dev/einonext,$(MODULES))) test-workshop eino-next)

.PHONY: licences
licences: ## look for texts under licences of others, and for the licence of every dependency
	@$(GO) run ./internal/dev/tools/licences

.PHONY: einos-tests
einos-tests: ## run Eino's own unit tests of its two packages against ours
	@$(GO) run ./internal/dev/tools/einotests

.PHONY: conformance
conformance: ## run the protocol's own conformance suite against mcptools, where npm can fetch it
	@cd toolsearch/mcptools && EINOLEAN_CONFORMANCE=suite $(GO) test -count=1 -v -run '^TestConformance_SuitePasses$$' .

# With THOROUGH=1, as `make check` has it, tests are as long as they can be, and the packages that use
# internal/dev/twice go through the quick part a second time: nothing may be left over from the first pass.
$(addprefix test@,$(MODULES)): test@%:
	@cd $* && EINOLEAN_TWICE=$(THOROUGH) $(LESS_GC) $(GO) test $(WHOLE) $(if $(THOROUGH),,-short) $(PACKAGES)

# What users import comes first; the workshop of the root module is a step of its own.
PACKAGES := ./...
test@.: PACKAGES = $$($(GO) list ./... | grep -v /internal/dev/)

.PHONY: test-workshop
test-workshop:
	@$(LESS_GC) $(GO) test $(WHOLE) ./internal/dev/...

# The detector makes tests about ten times slower, so it watches the packages that have something
# to share: that start goroutines, hold locks, serve, or run agents, in their code or their tests.
# See internal/dev/race. Tools of the repository and the tests of its files have nothing. A program under
# the detector waits a second before it ends, unless it is told not to; some tests start dozens.
SHARES := "sync(/atomic)?"|"testing/synctest"|"net/http|/internal/dev/adktest"|^[[:space:]]+(defer )?go [a-z]

$(addprefix race@,$(PRODUCT)): race@%:
	@cd $* && dirs=$$(for d in $$($(GO) list -f '{{.Dir}}' ./... | grep -vE '/internal(/dev/tools/.*)?$$'); do \
		! grep -qE '$(SHARES)' $$d/*.go || echo $$d; done); \
	[ -z "$$dirs" ] || $(LESS_GC) GORACE=atexit_sleep_ms=10 $(GO) test -race $(WHOLE) $$dirs

# The race detector needs a working C compiler: try it. Without one, Go must not try either.
ifneq ($(filter test-rest soak test@% race@%,$(MAKECMDGOALS)),)
RACE := $(shell $(GO) build -race runtime/cgo >/dev/null 2>&1 && echo -race)
ifeq ($(RACE),)
export CGO_ENABLED := 0
endif
endif

# What compares behavior with Eino's own middlewares holds for the version that we require:
# v0.10.0-alpha.12 was made before parts of v0.9.21.
NEXT := internal/einorun internal/dev/together reduction toolerror toolsearch toolsearch/skills window
NEXT_SKIPS := Parity_

.PHONY: eino-next
eino-next: ## test with the next version of Eino: sessions, and both middlewares' own tests
	@cd internal/dev/einonext && export $(LESS_GC) && $(GO) test $(WHOLE) ./... && \
		$(GO) test $(WHOLE) -short -skip '$(NEXT_SKIPS)' $(addprefix github.com/einolean/einolean/,$(NEXT))

tidy: ## go mod tidy, in every module
	$(call each,$(GO) mod tidy)

tidy-check: ## fail where `make tidy` would change something
	$(call side,$(addprefix tidy-check@,$(MODULES)))

$(addprefix tidy-check@,$(MODULES)): tidy-check@%:
	@cd $* && $(GO) mod tidy -diff

# go test fuzzes one target of one package at a time: list them all, then go through the list.
fuzz_each = list=$$($(GO) test -list '^Fuzz' ./...); \
	echo "$$list" | awk '/^Fuzz/ {names[n++] = $$1} /^ok/ {for (i = 0; i < n; i++) print $$2, names[i]; n = 0}' | \
	while read -r pkg name; do echo "fuzzing $$name"; $(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$pkg" </dev/null || exit 1; done

fuzz: ## run every fuzz target for FUZZTIME (20s), one after another
	$(call each,$(fuzz_each))

bench: ## every benchmark, once (BENCH=regexp chooses)
	$(call each,$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...)

compare: ## Eino's packages and ours on the same work, or BASE=commit and the working tree, with the interval of each ratio (PKG=, BENCH= and COUNT= choose)
	$(GO) run ./internal/dev/tools/compare -base '$(BASE)' -only '$(BENCH)' -count '$(COUNT)' $(PKG)

fingerprint: ## hash what RUNS (3000) random runs do: two commits with equal hashes behave the same in them
	@$(GO) run ./internal/dev/tools/fingerprint -runs $(RUNS)

golden: ## rewrite the golden files; read the diff before you commit it
	$(call each,EINOLEAN_UPDATE=1 $(GO) test -count=1 -run Golden ./...)
	@git status --short || true

recall: ## print how well each index finds tools, per catalogue (DATA=directory of more catalogues, HALF=heldout, RATEL=1: also Ratel, with Node.js and npm)
	EINOLEAN_DATA='$(abspath $(DATA))' EINOLEAN_HALF='$(HALF)' EINOLEAN_RATEL='$(if $(RATEL),$(RATEL_VERSION))' $(GO) test -count=1 -v -timeout 60m \
		-run '^(TestComparison_TablesMatchDocs|TestRecall_PrintsTable|TestLanguagePairs_PrintTable|TestPublicServers_LanguagesMatchDocs)$$' ./toolsearch/toolsearcheval

previews: ## print how often a cut result still shows a fact that is needed later, by kind and size
	@cd demo && $(GO) run ./previews

report: ## measure what is in the repository, draw docs/img and write the tables of docs/benchmarks.md and internal/dev/RESULTS.md (TIMES=1: also times, which differ by machine)
	cd internal/dev/tools/report && $(GO) run . $(if $(TIMES),-times)

thrift: ## replay 300 invented agent runs under every policy and print what each costs (TRIGGER=32000, CONVERSATION=file of your own)
	$(GO) run ./internal/dev/tools/thrift $(if $(TRIGGER),-trigger $(TRIGGER)) $(if $(CONVERSATION),-conversation '$(CONVERSATION)')

soak: ## thousands of agent runs at once, a tenth of them under the race detector (SOAK_RUNS=)
	$(GO) run ./internal/dev/tools/soak -runs $$(( $(SOAK_RUNS) - $(SOAK_RUNS) / 10 ))
	$(GO) run $(RACE) ./internal/dev/tools/soak -runs $$(( $(SOAK_RUNS) / 10 ))
	EINOLEAN_PROGRAMS=$(SOAK_RUNS) $(GO) test -count=1 -v -timeout 30m -run '^TestPrograms_SurviveInterruptsAndKills$$' ./programs
	cd toolsearch/mcptools && EINOLEAN_SOAK=$$(( $(SOAK_RUNS) / 20 )) $(GO) test -count=1 -v -timeout 30m -run '^TestServers_LyingServersHarmNobody$$' .

release: ## print which tags a release of VERSION makes; with TAG=1 make them (nothing is pushed)
	$(GO) run ./internal/dev/tools/release -version '$(VERSION)' $(if $(TAG),-tag)
