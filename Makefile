# A fresh checkout needs `make test` or `make demo`, nothing else. With WARNINGS_AS_ERRORS=1, as in
# CI, a warning in this package fails the build. Dependencies are not affected.

SWIFT ?= swift
FLAGS =
ifdef WARNINGS_AS_ERRORS
FLAGS += -Xswiftc -warnings-as-errors
endif
# The trait CommandLine is the tool, with its packages. The trait Macros is @Normalized, with
# swift-syntax, which the tool does not need: the build of the tool does not even fetch it. The
# traits Encryption, with swift-crypto, and Server, with swift-log and swift-metrics, are tested, and
# not part of the released tool.
RELEASE_FLAGS = --configuration release --traits CommandLine --product espalier $(FLAGS)
TEST_FLAGS = --traits Macros,CommandLine,Encryption,Server $(FLAGS)
SWIFT_SOURCES = $(wildcard Package.swift Sources Tests Benchmarks Examples Fleet Fuzz Plugins Snippets)

.DEFAULT_GOAL = help
.PHONY: help all setup setup-bench build test races memory fuzz torture torture-short bench bench-micro bench-smoke test-fleet bench-fleet setup-fleet compile-cost release demo docs check-docs format lint clean

help: ## lists the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

all: build

setup: ## installs missing system packages: LMDB and zstd
	@SWIFT='$(SWIFT)' Scripts/setup

build: setup ## builds everything, for debugging
	@echo 'build: building everything for debugging'
	$(SWIFT) build $(TEST_FLAGS)

test: setup ## installs missing packages, builds and runs all tests
	@echo 'test: building everything for debugging, with the tests; minutes the first time'
	$(SWIFT) build --build-tests $(TEST_FLAGS)
	@echo 'test: running all tests'
	@SWIFT='$(SWIFT)' Scripts/test $(TEST_FLAGS)

# RACES_FILTER and MEMORY_FILTER are regular expressions: the tests to run.
RACES_TARGETS = EspalierModelsTests EspalierConsistencyTests EspalierProvidersTests \
	EspalierLMDBTests EspalierStoreTests SanitizedSynchronizationTests
RACES_FILTER = .
races: setup ## runs the tests of the engine and the layers above with the thread sanitizer
	@echo 'races: building these tests with the thread sanitizer'
	@SWIFT='$(SWIFT)' Scripts/races '$(RACES_TARGETS)' '$(RACES_FILTER)' $(FLAGS)

# detect_stack_use_after_return would move local variables to the heap, and so hide from the tests
# how much of the stack is in use.
MEMORY = ESPALIER_TARGETS='EspalierRecordsTests EspalierLMDBTests' SWIFT_BACKTRACE=enable=no \
	ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0
MEMORY_FLAGS = --sanitize=address --disable-default-traits --scratch-path .build/memory $(FLAGS)
MEMORY_FILTER = .
memory: setup ## runs the tests of records and LMDB with the address sanitizer
	@echo 'memory: building these tests with the address sanitizer'
	$(MEMORY) $(SWIFT) build --product EspalierPackageTests $(MEMORY_FLAGS)
	@echo 'memory: running them'
	$(MEMORY) $(SWIFT) test --skip-build --disable-xctest --no-parallel \
		--filter '$(MEMORY_FILTER)' $(MEMORY_FLAGS)

fuzz: setup ## feeds made-up bytes to the readers of records, models and dictionaries, a minute each
	@for target in records codable dictionaries; do Scripts/fuzz $$target 60 || exit; done

# The attacks are a package of their own, which is always optimised. TORTURE_TOOL is the path of a
# built tool; without it the tool is built as well, in a minute and a half.
SEED = 1
MINUTES = 60
TORTURE_SCRATCH = Tests/Torture/.build
TORTURE_BUILD = $(SWIFT) build --package-path Tests/Torture --scratch-path $(TORTURE_SCRATCH) \
	--configuration release $(FLAGS)
TORTURE_FLAGS = --seed $(SEED) $(if $(TORTURE_TOOL),--tool $(abspath $(TORTURE_TOOL)))
torture: setup ## attacks the cache for MINUTES=60 by kills, faults, damage; prints a table
	@echo 'torture: building the attacks, optimised; minutes the first time'
	$(TORTURE_BUILD) --product torture
	$(if $(TORTURE_TOOL),,$(TORTURE_BUILD) --product espalier)
	@echo 'torture: attacking for $(MINUTES) minutes'
	$(TORTURE_SCRATCH)/release/torture long --minutes $(MINUTES) $(TORTURE_FLAGS)

torture-short: setup ## the same in four minutes, as CI does
	@echo 'torture-short: building the attacks, optimised; minutes the first time'
	$(TORTURE_BUILD) --product torture
	$(if $(TORTURE_TOOL),,$(TORTURE_BUILD) --product espalier)
	@echo 'torture-short: attacking for four minutes'
	$(TORTURE_SCRATCH)/release/torture short $(TORTURE_FLAGS)

# The peers of the comparison have system packages of their own. `compare` gets BENCH_FLAGS.
BENCH_REPORT = Benchmarks/report
BENCH_SCRATCH = Benchmarks/.build
BENCH_PACKAGE = --package-path Benchmarks --scratch-path $(BENCH_SCRATCH)
setup-bench: ## installs the packages of the benchmarks: RocksDB, SQLite, valgrind
	@SWIFT='$(SWIFT)' Scripts/setup bench

# The micro-benchmarks come last, so that a missed threshold does not cost the report.
bench: setup-bench ## measures everything, three quarters of an hour; leaves Benchmarks/report; fails if bench-micro fails
	@echo 'bench: building the benchmarks, optimised; ten minutes the first time'
	@for product in compare Models Consistency Following; do \
	$(SWIFT) build $(BENCH_PACKAGE) --configuration release --product $$product || exit; done
	@echo 'bench: measuring Espalier beside its peers, most of that time; leave the machine alone'
	$(BENCH_SCRATCH)/release/compare --report '$(BENCH_REPORT)' $(BENCH_FLAGS)
	@echo 'bench: the report is in $(BENCH_REPORT); measuring models and consistency, three minutes'
	$(BENCH_SCRATCH)/release/Models
	$(BENCH_SCRATCH)/release/Consistency
	$(BENCH_SCRATCH)/release/Following
	@$(MAKE) --no-print-directory bench-micro

# This is a debug build, like the tests beside it: its figures mean nothing.
bench-smoke: setup-bench ## runs the benchmarks with tiny sizes, and their tests, to see that they work
	@echo 'bench-smoke: building the benchmarks for debugging'
	$(SWIFT) build $(BENCH_PACKAGE) --build-tests $(FLAGS)
	@echo 'bench-smoke: running everything once'
	$(BENCH_SCRATCH)/debug/compare --smoke --report $(BENCH_SCRATCH)/smoke
	$(BENCH_SCRATCH)/debug/Models soak --seconds 6
	SWIFT_BACKTRACE=enable=no $(SWIFT) test $(BENCH_PACKAGE) --skip-build --disable-xctest --no-parallel $(FLAGS)

# The cache that servers share is a package of its own. Its tests start and stop their own
# redis-server on free ports. FLEET_STEPS=100000 is the long attack.
FLEET_SCRATCH = Fleet/.build
FLEET_STEPS = 8000
FLEET_PACKAGE = --package-path Fleet --scratch-path $(FLEET_SCRATCH)
setup-fleet: ## installs the packages of the shared cache: hiredis, redis-server
	@SWIFT='$(SWIFT)' Scripts/setup fleet

test-fleet: setup-fleet ## installs what it needs, builds and tests the cache that servers share
	@echo 'test-fleet: building the shared cache for debugging; minutes the first time'
	$(SWIFT) build $(FLEET_PACKAGE) --build-tests $(FLAGS)
	@echo 'test-fleet: running its tests, with attacks of $(FLEET_STEPS) steps'
	ESPALIER_FLEET_STEPS=$(FLEET_STEPS) SWIFT_BACKTRACE=enable=no $(SWIFT) test $(FLEET_PACKAGE) \
		--skip-build --disable-xctest --no-parallel $(FLAGS)

bench-fleet: setup-fleet ## measures the shared cache beside plain Redis, a minute
	@echo 'bench-fleet: building the benchmarks of the shared cache, optimised'
	$(SWIFT) build $(FLEET_PACKAGE) --configuration release --product fleet-bench
	$(FLEET_SCRATCH)/release/fleet-bench

compile-cost: build ## measures what the macro costs to compile, beside Codable, two minutes
	@Scripts/compile-cost

release: setup ## builds the tool, optimised: .build/release/espalier
	@echo 'release: building .build/release/espalier, optimised; minutes the first time'
	$(SWIFT) build $(RELEASE_FLAGS)

demo: release ## builds the tool, minutes the first time, and runs a demonstration
	@echo 'demo: running .build/release/espalier demo'
	@.build/release/espalier demo

# Both checks run before the target fails, because one explains the other. Only macOS has a sandbox,
# and caches are files. The plugin builds into Benchmarks/.build, whatever BENCH_SCRATCH is.
BENCHMARK = $(SWIFT) package $(if $(filter Darwin,$(shell uname -s)),--disable-sandbox) benchmark
bench-micro: setup-bench ## measures single operations against thresholds that hold on every machine
	@echo 'bench-micro: building the benchmarks as its tool does, minutes the first time'
	@cd Benchmarks && $(BENCHMARK) list --target Micro
	@echo 'bench-micro: measuring times and allocations, and counting instructions'
	@cd Benchmarks && status=0; \
	$(BENCHMARK) thresholds check --target Micro --no-progress || status=1; \
	.build/release/Micro instructions || status=1; \
	exit $$status

docs: setup ## builds the documentation of the library into .build/docs
	@SWIFT='$(SWIFT)' FLAGS='$(TEST_FLAGS)' Scripts/docs

check-docs: docs ## follows the links of the documentation, and looks at its guides in Chromium
	@SWIFT='$(SWIFT)' Scripts/setup docs
	@Scripts/check-docs

format: ## formats the sources
	$(SWIFT) format --in-place --recursive --parallel $(SWIFT_SOURCES)

lint: ## checks that the sources are formatted
	$(SWIFT) format lint --strict --recursive --parallel $(SWIFT_SOURCES)

clean: ## removes the build
	$(SWIFT) package clean
