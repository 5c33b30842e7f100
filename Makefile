# `make help` lists the targets. Everything is built into .venv/, target/ and dist/.

SHELL := /bin/bash -o pipefail
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

SBT_VERSION := $(shell sed -n 's/^sbt.version=//p' project/build.properties)
VERSION_FILE := python/intervalsweep/_version.py
VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' $(VERSION_FILE))

# Every target works for another minor version of Spark: `make test-python SPARK=4.0`. Each version has
# its own environment and jar.
SPARKS := $(shell sed -n '/^SPARK_SERIES = /s/[^0-9. ]//gp' $(VERSION_FILE))
NEWEST := $(lastword $(SPARKS))
SPARK := $(NEWEST)

JAR := target/jars/intervalsweep-spark$(SPARK)_2.13-$(VERSION).jar
REPOSITORY := target/repository
CLASSES := target/tests/classes-$(SPARK).jsa
WHEEL := dist/intervalsweep-$(VERSION)-py3-none-any.whl
ENVIRONMENT := .venv$(if $(filter-out $(NEWEST),$(SPARK)),-spark$(SPARK))
VENV := $(ENVIRONMENT)/.installed
BENCH := $(ENVIRONMENT)/.installed-bench
DOCS := $(ENVIRONMENT)/.installed-docs
PY := $(ENVIRONMENT)/bin/python
PACKED := target/environment.tar.gz

# The build, the tests and the demo use the Spark in .venv, whatever the user's environment says.
unexport SPARK_HOME SPARK_CONF_DIR SPARK_REMOTE PYSPARK_SUBMIT_ARGS PYSPARK_DRIVER_PYTHON PYTHONPATH \
  SPARK_SUBMIT_OPTS SPARK_DIST_CLASSPATH
export PYSPARK_PYTHON := $(CURDIR)/$(PY)

JAVA := $(if $(JAVA_HOME),$(JAVA_HOME)/bin/java,java)
SBT_LAUNCHER := target/tools/sbt-launch-$(SBT_VERSION).jar
# sbt runs are too short for an optimizing compiler to pay off. Without it, Java keeps only 48 MiB for
# code by default, less than the Scala compiler needs.
SBT_JVM := -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=256m
ifneq ($(shell command -v sbt),)
  SBT := sbt $(addprefix -J,$(SBT_JVM))
else
  SBT := "$(JAVA)" -Xss4m $(SBT_JVM) -jar $(SBT_LAUNCHER)
  SBT_TOOL := $(SBT_LAUNCHER)
endif
# sbt must never wait for input; `</dev/null` turns a question into an error.
sbt = SPARK_HOME="$$(cd $(ENVIRONMENT)/lib/python3*/site-packages/pyspark && pwd)" \
  $(SBT) -Dsbt.supershell=false $(1) </dev/null

# The sources of the jar. The list is also a file, so that deleting a source triggers a build.
JAR_SOURCES := $(shell find scala-plugin/src/main -type f -not -name '.*') \
  $(shell find python -name '*.py' -not -path '*/.*') python/intervalsweep/relations.json \
  build.sbt publish.sbt project/build.properties project/plugins.sbt LICENSE NOTICE
SOURCE_LIST := target/make/sources
$(shell mkdir -p $(dir $(SOURCE_LIST)); echo '$(sort $(JAR_SOURCES))' | cmp -s - $(SOURCE_LIST) \
  || echo '$(sort $(JAR_SOURCES))' > $(SOURCE_LIST))

.PHONY: help
help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

.PHONY: demo
demo: $(JAR) ## Run interval joins on real data and compare with Spark's own plan
	@$(PY) sql-examples/demo.py

# Two processes, each with a Spark and 4 GiB of heap, because tests wait for half of their time. The
# tests of a file share fixtures and stay in one process.
TWO := --numprocesses=2 --dist=loadfile

# The share of cases that a test with many cases runs, drawn again each time; the seed is printed.
SHARE := 0.03

.PHONY: test
test: $(VENV) ## Run the tests, Scala and Python; test-all has the slow ones
	$(MAKE) --jobs=2 test-scala test-without-spark $(CLASSES) SHARE=$(SHARE)
	$(MAKE) test-with-spark SHARE=$(SHARE)

# One sbt run compiles, packs the jar and tests, so that its JVM starts only once.
.PHONY: test-scala
test-scala: $(VENV) $(SBT_TOOL) | check-tools ## Run only the Scala tests (SUITES: a pattern for suites)
	$(call sbt,package publish $(if $(SUITES),'testOnly $(SUITES)',test))
	@touch $(JAR)

.PHONY: test-python
test-python: $(JAR) $(WHEEL) $(CLASSES) ## Run only the Python and SQL tests (ARGS: arguments for pytest)
	$(PY) -m pytest $(TWO) --share=$(SHARE) -m "not extended" $(ARGS)

# Tests without a jar run on the other core, while Scala is compiled.
WITHOUT_SPARK := tests/kernels tests/arrow
.PHONY: test-without-spark test-with-spark
test-without-spark: $(VENV)
	$(PY) -m pytest --share=$(SHARE) -m "not extended" $(ARGS) $(WITHOUT_SPARK)
test-with-spark: $(JAR) $(WHEEL) $(CLASSES)
	$(PY) -m pytest $(TWO) --share=$(SHARE) -m "not extended" $(addprefix --ignore=,$(WITHOUT_SPARK)) $(ARGS)

.PHONY: test-extended
test-extended: $(JAR) $(WHEEL) $(CLASSES) $(PACKED) $(BENCH)
	$(PY) -m pytest $(TWO) -m extended $(ARGS)

# The tests of the newest Spark have its core tests among them, so test-all does not repeat these.
.PHONY: test-all
test-all: SHARE := 1
test-all: MATRIX := $(filter-out $(NEWEST),$(SPARKS))
test-all: test test-extended test-matrix docs ## Run all tests, for hours: clusters, all Sparks, peers, notebooks

# CORE: the tests that run for each minor version of Spark. SMOKE: the quick ones among them.
CORE := $(addprefix sql/conditions/,known_answers functions raw_conditions sql_examples) \
  $(addprefix sql/plans/,plans aggregates why_not settings) sql/joins/join_types \
  faults/faults api/session api/cli \
  $(addprefix temporal/temporal_,operators joins rules errors) \
  streams/windows/windows_on_streams streams/joins/stream_joins \
  streams/histories/histories_of_streams streams/nearest/as_of_joins_of_streams
SMOKE := $(addprefix sql/,conditions/known_answers conditions/sql_examples plans/settings)
test_file = tests/$(dir $(1))test_$(notdir $(1)).py
.PHONY: test-core test-smoke
test-core: $(JAR) $(CLASSES)
	$(PY) -m pytest -q $(TWO) $(foreach name,$(CORE),$(call test_file,$(name))) $(ARGS)
test-smoke: $(JAR)
	$(PY) -m pytest -q $(foreach name,$(SMOKE),$(call test_file,$(name))) $(ARGS)

MATRIX := $(SPARKS)
.PHONY: test-matrix
test-matrix: ## Build for each minor version of Spark and run the core tests (MATRIX: versions)
	@mkdir -p target/matrix; result=0; \
	for spark in $(MATRIX); do \
	  $(MAKE) test-core SPARK=$$spark 2>&1 | tee target/matrix/$$spark.log || result=1; done; \
	for spark in $(MATRIX); do \
	  echo "Spark $$spark: $$(tail -n 1 target/matrix/$$spark.log)"; done; exit $$result

# Most neighbours support one minor version of Spark only; the tests skip the others.
.PHONY: test-neighbours test-neighbours-of
test-neighbours: ## Run next to Kafka, Delta, Iceberg, PostgreSQL and others (MATRIX: versions)
	@result=0; for spark in $(MATRIX); do \
	  $(MAKE) test-neighbours-of SPARK=$$spark || result=1; done; exit $$result
test-neighbours-of: $(JAR)
	$(PY) -m pytest tests/neighbours $(ARGS)

.PHONY: smoke-oldest
smoke-oldest: ## Build for the oldest Spark and run a few tests
	$(MAKE) test-smoke SPARK=$(firstword $(SPARKS))

.PHONY: test-cluster
test-cluster: $(JAR) $(PACKED) ## Run on a cluster with a bare Python and a packed environment
	$(PY) -m pytest tests/cluster/test_packed_environment.py $(ARGS)

.PHONY: load
load: $(JAR) ## Run queries, failures, cancellations and streams next to each other (MINUTES: 10)
	PYTHONPATH=tests $(PY) -m load $(if $(MINUTES),--minutes $(MINUTES)) $(ARGS)

FUZZ = PYTHONPATH=tests $(PY) -m fuzz.$(1) $(if $(CASES),--cases $(CASES)) $(if $(SEED),--seed $(SEED)) $(ARGS)

.PHONY: fuzz fuzz-nearest fuzz-temporal fuzz-streams fuzz-stream-nearest fuzz-stream-joins fuzz-histories
fuzz: $(JAR) ## Compare random queries with Spark's own plan (CASES: number, SEED)
	$(call FUZZ,joins)

fuzz-nearest: $(JAR) ## Compare random as-of and nearest joins with a slow search (CASES, SEED)
	$(call FUZZ,nearest)

fuzz-temporal: $(JAR) ## Compare random histories with their snapshots in DuckDB and Spark (CASES, SEED)
	$(call FUZZ,temporal)

fuzz-streams: $(JAR) ## Compare random window unions of streams with Spark in batch (CASES, SEED)
	$(call FUZZ,streams.windows)

fuzz-stream-nearest: $(JAR) ## Compare random as-of joins of streams with a slow search (CASES, SEED)
	$(call FUZZ,streams.last_rows)

fuzz-stream-joins: $(JAR) ## Compare random joins of streams with joins of tables (CASES, SEED)
	$(call FUZZ,streams.joins)

fuzz-histories: $(JAR) ## Compare random histories of streams with their snapshots in DuckDB (CASES, SEED)
	$(call FUZZ,streams.histories)

.PHONY: lint
lint: lint-python lint-scala lint-text ## Check style, types and docs; compiler warnings are errors

.PHONY: lint-python
lint-python: $(VENV)
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m mypy
	$(PY) tools/generate.py --check

.PHONY: lint-scala
lint-scala: $(VENV) $(SBT_TOOL) | check-tools
	$(call sbt,scalafmtCheckAll scalafmtSbtCheck Test/compile)

# The other checks of the git hooks. Without a git repository there is nothing to check.
.PHONY: lint-text
lint-text: $(VENV)
	! git rev-parse --git-dir >/dev/null || SKIP=python,scala $(PY) -m pre_commit run --all-files

.PHONY: hooks
hooks: $(VENV) ## Install git hooks that check each commit
	$(PY) -m pre_commit install

.PHONY: format
format: $(VENV) $(SBT_TOOL) | check-tools ## Rewrite all sources in the project's style
	$(PY) -m ruff check --fix --exit-zero
	$(PY) -m ruff format
	$(call sbt,scalafmtAll scalafmtSbt)

.PHONY: build
build: $(JAR) ## Build the jar: target/jars/ (SPARK: version, for all targets)

.PHONY: wheel
wheel: $(WHEEL) ## Build the Python wheel with the jar inside: dist/

.PHONY: wheel-all
wheel-all: $(VENV) ## Build the Python wheel with the jars for all Sparks inside: dist/
	for spark in $(SPARKS); do $(MAKE) build SPARK=$$spark || exit 1; done
	$(call build_wheel,$(SPARKS))

.PHONY: publish-local
publish-local: $(JAR) ## Fill target/repository, a Maven repository for --packages

.PHONY: golden
golden: $(JAR) ## Rewrite the golden results of sql-examples/
	$(PY) sql-examples/run.py --write

.PHONY: docs
docs: $(DOCS) $(JAR) ## Build the documentation site: target/site/ (runs the notebooks; warnings are errors)
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --quiet

.PHONY: bench
bench: $(JAR) $(BENCH) ## Compare with other systems in ten minutes, on an idle machine (ARGS)
	$(PY) -m benchmarks --minutes 9 $(ARGS)

.PHONY: bench-quick
bench-quick: $(JAR) ## Compare seven cases with committed ratios in eight minutes, on an idle machine (ARGS)
	$(PY) -m benchmarks.quick $(ARGS)

.PHONY: bench-full
bench-full: $(JAR) $(BENCH) ## Compare with other systems in all cases, for hours (ARGS)
	$(PY) -m benchmarks --full $(ARGS)

.PHONY: bench-kernels
bench-kernels: $(JAR) ## Measure only the kernels
	$(PY) -m benchmarks.studies.kernels

.PHONY: lock
lock: $(VENV) ## Update constraints*.txt to the newest versions that pyproject.toml allows
	$(call compile_lock,--extra dev --extra docs,constraints.txt)
	$(call compile_lock,--extra bench,constraints-bench.txt)

compile_lock = $(PY) -m uv pip compile --quiet --upgrade --universal --python-version 3.11 $(1) \
  --no-header --no-annotate --output-file $(2) pyproject.toml

.PHONY: clean
clean: ## Remove everything that was built, except the environments, .venv*
	rm -rf target project/target project/project dist spark-warehouse metastore_db derby.log
	find . -path "./.venv*" -prune -o -type d \( -name __pycache__ -o -name '.*_cache' \
	  -o -name .hypothesis \) -prune -exec rm -rf {} +

.PHONY: distclean
distclean: clean ## Remove the environments, too
	rm -rf .venv .venv-spark*

$(JAR): $(JAR_SOURCES) $(SOURCE_LIST) $(VENV) $(SBT_TOOL) | check-tools
	@rm -rf $(@D)/*-spark$(SPARK)_* $(REPOSITORY)/org/intervalsweep/*-spark$(SPARK)_*
	$(call sbt,package publish)
	@touch $@

# The archive of classes with which the JVMs of the tests start in half the time.
$(CLASSES): $(VENV) tests/support/spark/jvm.py tests/support/spark/QuickFiles.java
	PYTHONPATH=tests $(PY) -m support.spark.jvm

$(WHEEL): $(JAR) pyproject.toml tools/hatch_build.py README.md
	$(call build_wheel,$(SPARK))
	@touch $@

build_wheel = rm -rf dist; INTERVALSWEEP_SPARKS="$(1)" \
  $(PY) -m build --wheel --no-isolation --outdir dist

# The lock is for the newest Spark. Without its pyspark line it is also valid for the other versions.
LOCK := $(dir $(SOURCE_LIST))constraints-$(SPARK).txt
BENCH_LOCK := $(dir $(SOURCE_LIST))constraints-bench-$(SPARK).txt
$(LOCK) $(BENCH_LOCK): $(dir $(SOURCE_LIST))%-$(SPARK).txt: %.txt
	@sed '$(if $(filter-out $(NEWEST),$(SPARK)),/^pyspark/d)' $< > $@

$(VENV): pyproject.toml constraints.txt | $(LOCK) check-tools
	@python=$$($(find_python)); $$python -m venv $(ENVIRONMENT) || { echo "make: $$python cannot make virtual \
	environments; install its venv module (Debian, Ubuntu: apt install python3-venv)" >&2; exit 1; }
	$(PY) -m pip install --quiet --constraint $(LOCK) uv
	$(PY) -m uv pip install --quiet --constraint $(LOCK) --editable '.[dev]' 'pyspark==$(SPARK).*'
	@touch $@

# The peers have a lock of their own: some need older versions of packages than the tests.
$(BENCH): $(VENV) constraints-bench.txt | $(BENCH_LOCK)
	$(PY) -m pip install --quiet --constraint $(BENCH_LOCK) --editable '.[bench]'
	@touch $@

$(DOCS): $(VENV) | $(LOCK)
	$(PY) -m pip install --quiet --constraint $(LOCK) --editable '.[docs]'
	@touch $@

# A packed environment for workers, for executors without the packages.
$(PACKED): constraints.txt | check-tools
	@rm -rf target/environment
	$$($(find_python)) -m venv target/environment
	target/environment/bin/python -m pip install --quiet --constraint constraints.txt \
	  numpy pyarrow numba
	tar -czf $@ -C target/environment .

$(SBT_LAUNCHER): | check-tools
	mvn --quiet --batch-mode org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
	  -Dartifact=org.scala-sbt:sbt-launch:$(SBT_VERSION) -DoutputDirectory=$(@D)
	@touch $@

# The first Python that PySpark 4.3 supports, or nothing.
find_python = for p in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done

# The tools that must be installed; the error names the missing one.
.PHONY: check-tools
check-tools:
	@java=$$("$(JAVA)" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p'); \
	  [ "$${java:-0}" -ge 17 ] || { echo "make: Java 17 or newer is needed (by Spark 4.3), found: \
	$${java:-none}. Install it, or set JAVA_HOME" >&2; exit 1; }
	@[ -n "$$($(find_python))" ] || { echo "make: Python 3.11 or newer is needed (by PySpark 4.3), found: \
	$$(python3 -V 2>/dev/null || echo none). Install it, or: make PYTHON=/path/to/python3" >&2; exit 1; }
	@command -v sbt >/dev/null || command -v mvn >/dev/null || { \
	  echo "make: sbt or Maven is needed to build the jar, found: none. Install one of them" >&2; exit 1; }
