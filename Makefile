# A fresh checkout needs `make test` or `make demo`, nothing else. With WARNINGS_AS_ERRORS=1, as in
# CI, a warning in this package fails the build. Dependencies are not affected.

SWIFT ?= swift
FLAGS =
ifdef WARNINGS_AS_ERRORS
FLAGS += -Xswiftc -warnings-as-errors
endif
# The trait CommandLine is the tool, with its packages. The trait Macros is @Normalized, with
# swift-syntax, which the tool does not need: the build of the tool does not even fetch it. The trait
# Encryption, with swift-crypto, is tested and not released.
RELEASE_FLAGS = --configuration release --traits CommandLine --product espalier $(FLAGS)
TEST_FLAGS = --traits Macros,CommandLine,Encryption $(FLAGS)
SWIFT_SOURCES = $(wildcard Package.swift Sources Tests Benchmarks Examples Fuzz Plugins Snippets)

.DEFAULT_GOAL = help
.PHONY: help all setup setup-bench build test races fuzz bench bench-micro bench-smoke release demo docs format lint clean

help: ## lists the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

all: build

setup: ## installs missing system packages: LMDB and zstd
	@SWIFT='$(SWIFT)' Scripts/setup

build: setup ## builds everything, for debugging
	@echo 'build: building everything for debugging'
	$(SWIFT) build $(TEST_FLAGS)

# Backtraces are off: each test that lets a process die on purpose would spend seconds on one. The
# tests run one at a time: many of them start threads and processes, which wait for one another if
# several tests run on two processors.
test: setup ## installs missing packages, builds and runs all tests
	@echo 'test: building everything for debugging, with the tests; minutes the first time'
	$(SWIFT) build --build-tests $(TEST_FLAGS)
	@echo 'test: running all tests'
	SWIFT_BACKTRACE=enable=no $(SWIFT) test --skip-build --disable-xctest --no-parallel $(TEST_FLAGS)

# A report of the sanitizer ends the tests with an error. ESPALIER_TARGETS reduces the package to the
# tests of the layers that have threads of their own above the cache.
RACES = ESPALIER_TARGETS='EspalierConsistencyTests EspalierProvidersTests' \
	TSAN_OPTIONS='halt_on_error=1 exitcode=66' SWIFT_BACKTRACE=enable=no
RACES_FLAGS = --sanitize=thread --disable-default-traits --scratch-path .build/races $(FLAGS)
races: setup ## runs the tests of consistency and providers with the thread sanitizer
	@echo 'races: building these tests with the thread sanitizer'
	$(RACES) $(SWIFT) build --product EspalierPackageTests $(RACES_FLAGS)
	@echo 'races: running them'
	$(RACES) $(SWIFT) test --skip-build --disable-xctest --no-parallel $(RACES_FLAGS)

fuzz: setup ## feeds made-up bytes to the readers of records, models and dictionaries, a minute each
	@for target in records codable dictionaries; do Scripts/fuzz $$target 60 || exit; done

# The peers of the comparison have system packages of their own. `compare` gets BENCH_FLAGS.
BENCH_REPORT = Benchmarks/report
BENCH_SCRATCH = Benchmarks/.build
BENCH_PACKAGE = --package-path Benchmarks --scratch-path $(BENCH_SCRATCH)
setup-bench: ## installs the packages of the benchmarks: RocksDB, SQLite, valgrind
	@SWIFT='$(SWIFT)' Scripts/setup bench

# The micro-benchmarks come last, so that a missed threshold does not cost the report.
bench: setup-bench ## measures everything, half an hour; leaves Benchmarks/report; fails if bench-micro fails
	@echo 'bench: building the benchmarks, optimised; ten minutes the first time'
	@for product in compare Models Consistency; do \
	$(SWIFT) build $(BENCH_PACKAGE) --configuration release --product $$product || exit; done
	@echo 'bench: measuring Espalier beside its peers, most of the half hour; leave the machine alone'
	$(BENCH_SCRATCH)/release/compare --report '$(BENCH_REPORT)' $(BENCH_FLAGS)
	@echo 'bench: the report is in $(BENCH_REPORT); measuring models and consistency, two minutes'
	$(BENCH_SCRATCH)/release/Models
	$(BENCH_SCRATCH)/release/Consistency
	@$(MAKE) --no-print-directory bench-micro

# This is a debug build, like the tests beside it: its figures mean nothing.
bench-smoke: setup-bench ## runs the benchmarks with tiny sizes, and their tests, to see that they work
	@echo 'bench-smoke: building the benchmarks for debugging'
	$(SWIFT) build $(BENCH_PACKAGE) --build-tests $(FLAGS)
	@echo 'bench-smoke: running everything once'
	$(BENCH_SCRATCH)/debug/compare --smoke --report $(BENCH_SCRATCH)/smoke
	SWIFT_BACKTRACE=enable=no $(SWIFT) test $(BENCH_PACKAGE) --skip-build --disable-xctest --no-parallel $(FLAGS)

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

format: ## formats the sources
	$(SWIFT) format --in-place --recursive --parallel $(SWIFT_SOURCES)

lint: ## checks that the sources are formatted
	$(SWIFT) format lint --strict --recursive --parallel $(SWIFT_SOURCES)

clean: ## removes the build
	$(SWIFT) package clean
