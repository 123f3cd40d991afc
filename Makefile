# `make test` and `make demo` are all it takes from a fresh checkout. With WARNINGS_AS_ERRORS=1, as CI runs it, a warning in
# this package fails the build; dependencies are not affected.

SWIFT ?= swift
FLAGS =
ifdef WARNINGS_AS_ERRORS
FLAGS += -Xswiftc -warnings-as-errors
endif
# The tool needs no macros: without the trait of that name what they depend on is not even fetched.
RELEASE_FLAGS = --configuration release --disable-default-traits --product espalier $(FLAGS)
SWIFT_SOURCES = $(wildcard Package.swift Sources Tests Benchmarks Examples Fuzz Plugins Snippets)

.DEFAULT_GOAL = help
.PHONY: help all setup setup-bench build test races fuzz bench bench-micro bench-smoke release demo docs format lint clean

help: ## tells what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

all: build

setup: ## installs the system packages that are missing: LMDB and zstd
	@SWIFT='$(SWIFT)' Scripts/setup

build: setup ## builds everything, for debugging
	@echo 'build: building everything for debugging'
	$(SWIFT) build $(FLAGS)

# Backtraces are off because tests that let a process die on purpose would each spend seconds on one. One test at a time:
# many of them run threads and processes of their own, and side by side on two processors they wait for one another.
test: setup ## installs what is missing, builds and runs all tests
	@echo 'test: building everything for debugging, with the tests; minutes the first time'
	$(SWIFT) build --build-tests $(FLAGS)
	@echo 'test: running all tests'
	SWIFT_BACKTRACE=enable=no $(SWIFT) test --skip-build --disable-xctest --no-parallel $(FLAGS)

# A report of the sanitizer ends the tests with an error. The macros are off, and so is all that has
# no threads of its own above the cache: ESPALIER_TARGETS tells the manifest.
RACES = ESPALIER_TARGETS='EspalierConsistencyTests EspalierProvidersTests' TSAN_OPTIONS='halt_on_error=1 exitcode=66' SWIFT_BACKTRACE=enable=no
RACES_FLAGS = --sanitize=thread --disable-default-traits --scratch-path .build/races $(FLAGS)
races: setup ## runs the tests of consistency and providers with the thread sanitizer
	@echo 'races: building what they need with the thread sanitizer'
	$(RACES) $(SWIFT) build --product EspalierPackageTests $(RACES_FLAGS)
	@echo 'races: running them'
	$(RACES) $(SWIFT) test --skip-build --disable-xctest --no-parallel $(RACES_FLAGS)

fuzz: setup ## hands made-up bytes to what reads stored ones, a minute each for records, models and dictionaries
	@for target in records codable dictionaries; do Scripts/fuzz $$target 60 || exit; done

# What is compared with has system packages of its own. BENCH_FLAGS are for `compare`.
BENCH_REPORT = Benchmarks/report
BENCH_SCRATCH = Benchmarks/.build
BENCH_PACKAGE = --package-path Benchmarks --scratch-path $(BENCH_SCRATCH)
setup-bench: ## installs what the benchmarks need beyond that: RocksDB, SQLite, valgrind
	@SWIFT='$(SWIFT)' Scripts/setup bench

# The micro-benchmarks come last: where a threshold is missed everything else is done and the report is there.
bench: setup-bench ## measures everything, half an hour with the build; leaves Benchmarks/report, and fails where bench-micro does
	@echo 'bench: building the benchmarks, optimised; ten minutes the first time'
	@for product in compare Models Consistency; do \
	$(SWIFT) build $(BENCH_PACKAGE) --configuration release --product $$product || exit; done
	@echo 'bench: measuring Espalier beside what is used today, most of the half hour; leave the machine alone meanwhile'
	$(BENCH_SCRATCH)/release/compare --report '$(BENCH_REPORT)' $(BENCH_FLAGS)
	@echo 'bench: the report is in $(BENCH_REPORT); measuring models and consistency in memory, two minutes at most'
	$(BENCH_SCRATCH)/release/Models
	$(BENCH_SCRATCH)/release/Consistency
	@$(MAKE) --no-print-directory bench-micro

# Built for debugging, as the tests beside it: its figures mean nothing.
bench-smoke: setup-bench ## runs the benchmarks with tiny sizes, and their tests: they still work
	@echo 'bench-smoke: building the benchmarks for debugging'
	$(SWIFT) build $(BENCH_PACKAGE) --build-tests $(FLAGS)
	@echo 'bench-smoke: running everything once'
	$(BENCH_SCRATCH)/debug/compare --smoke --report $(BENCH_SCRATCH)/smoke
	SWIFT_BACKTRACE=enable=no $(SWIFT) test $(BENCH_PACKAGE) --skip-build --disable-xctest --no-parallel $(FLAGS)

release: setup ## builds the command line, optimised: .build/release/espalier
	@echo 'release: building .build/release/espalier, optimised; minutes the first time'
	$(SWIFT) build $(RELEASE_FLAGS)

demo: release ## builds the command line, minutes the first time, and shows what Espalier does
	@echo 'demo: running .build/release/espalier demo'
	@.build/release/espalier demo

# Both are done before it fails: what one says explains the other. Only macOS has a sandbox, and caches are files. It is the
# plugin that builds, into Benchmarks/.build whatever BENCH_SCRATCH is.
BENCHMARK = $(SWIFT) package $(if $(filter Darwin,$(shell uname -s)),--disable-sandbox) benchmark
bench-micro: setup-bench ## measures single operations against thresholds that mean the same on every machine
	@echo 'bench-micro: building the benchmarks as its tool does, minutes the first time'
	@cd Benchmarks && $(BENCHMARK) list --target Micro
	@echo 'bench-micro: measuring times and allocations, and counting instructions'
	@cd Benchmarks && status=0; \
	$(BENCHMARK) thresholds check --target Micro --no-progress || status=1; \
	.build/release/Micro instructions || status=1; \
	exit $$status

docs: setup ## builds the documentation of the library into .build/docs
	@SWIFT='$(SWIFT)' Scripts/docs

format: ## formats the sources
	$(SWIFT) format --in-place --recursive --parallel $(SWIFT_SOURCES)

lint: ## checks that the sources are formatted
	$(SWIFT) format lint --strict --recursive --parallel $(SWIFT_SOURCES)

clean: ## removes what was built
	$(SWIFT) package clean
