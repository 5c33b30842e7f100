# `make help` lists what there is to do. Everything made lands in .venv/, target/ and dist/.

SHELL := /bin/bash -o pipefail
MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

SBT_VERSION := $(shell sed -n 's/^sbt.version=//p' project/build.properties)
VERSION_FILE := python/intervalsweep/_version.py
VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' $(VERSION_FILE))

# Any target can be made for another minor version of Spark: `make test-python SPARK=4.0`. Each has an
# environment and a jar of its own, side by side.
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

# The build, the tests and the demo run on the Spark in .venv, whatever else is set up outside.
unexport SPARK_HOME SPARK_CONF_DIR SPARK_REMOTE PYSPARK_SUBMIT_ARGS PYSPARK_DRIVER_PYTHON PYTHONPATH \
  SPARK_SUBMIT_OPTS SPARK_DIST_CLASSPATH
export PYSPARK_PYTHON := $(CURDIR)/$(PY)

JAVA := $(if $(JAVA_HOME),$(JAVA_HOME)/bin/java,java)
SBT_LAUNCHER := target/tools/sbt-launch-$(SBT_VERSION).jar
# A run of sbt is over before an optimizing compiler pays.
SBT_JVM := -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
ifneq ($(shell command -v sbt),)
  SBT := sbt $(addprefix -J,$(SBT_JVM))
else
  SBT := "$(JAVA)" -Xss4m $(SBT_JVM) -jar $(SBT_LAUNCHER)
  SBT_TOOL := $(SBT_LAUNCHER)
endif
# sbt must never wait for an answer; `</dev/null` turns a question into an error.
sbt = SPARK_HOME="$$(cd $(ENVIRONMENT)/lib/python3*/site-packages/pyspark && pwd)" \
  $(SBT) -Dsbt.supershell=false $(1) </dev/null

# Everything the jar is made of. The list is a file of its own, so that a deleted source counts too.
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
demo: $(JAR) ## Run interval joins on real data, beside Spark's own plan
	@$(PY) sql-examples/demo.py

# Two processes with a Spark each, 4 GiB of heap: half of what a test does is wait. A file's tests
# share their fixtures and stay together.
TWO := --numprocesses=2 --dist=loadfile

# Of a test with many cases a part is run, chosen anew each time; the seed is printed.
SHARE := 0.03

.PHONY: test
test: $(VENV) ## Run the tests, Scala and Python; what takes longer is in test-all
	$(MAKE) --jobs=2 test-scala test-without-spark $(CLASSES) SHARE=$(SHARE)
	$(MAKE) test-with-spark SHARE=$(SHARE)

# One run of sbt compiles, packs the jar and tests; its JVM starts once.
.PHONY: test-scala
test-scala: $(VENV) $(SBT_TOOL) | check-tools ## Run the Scala tests alone (SUITES: some of them)
	$(call sbt,package publish $(if $(SUITES),'testOnly $(SUITES)',test))
	@touch $(JAR)

.PHONY: test-python
test-python: $(JAR) $(WHEEL) $(CLASSES) ## Run the Python and SQL tests alone (ARGS: arguments for pytest)
	$(PY) -m pytest $(TWO) --share=$(SHARE) -m "not extended" $(ARGS)

# What needs no jar runs while Scala is compiled, on the other core.
WITHOUT_SPARK := tests/kernels tests/arrow
.PHONY: test-without-spark test-with-spark
test-without-spark: $(VENV)
	$(PY) -m pytest --share=$(SHARE) -m "not extended" $(ARGS) $(WITHOUT_SPARK)
test-with-spark: $(JAR) $(WHEEL) $(CLASSES)
	$(PY) -m pytest $(TWO) --share=$(SHARE) -m "not extended" $(addprefix --ignore=,$(WITHOUT_SPARK)) $(ARGS)

.PHONY: test-extended
test-extended: $(JAR) $(WHEEL) $(CLASSES) $(PACKED) $(BENCH)
	$(PY) -m pytest $(TWO) -m extended $(ARGS)

.PHONY: test-all
test-all: SHARE := 1
test-all: test test-extended test-matrix docs ## Run all there is, hours: clusters, all Sparks, peers, notebooks

# What the core of the product is, in tests, for each minor version of Spark; of it what is quick.
CORE := $(addprefix sql/conditions/,known_answers functions raw_conditions sql_examples) \
  $(addprefix sql/plans/,plans aggregates why_not settings) sql/joins/join_types \
  faults/faults api/session api/cli \
  $(addprefix temporal/temporal_,operators joins rules errors) \
  streams/windows/windows_on_streams streams/joins/stream_joins
SMOKE := $(addprefix sql/,conditions/known_answers conditions/sql_examples plans/settings)
test_file = tests/$(dir $(1))test_$(notdir $(1)).py
.PHONY: test-core test-smoke
test-core: $(JAR) $(CLASSES)
	$(PY) -m pytest -q $(TWO) $(foreach name,$(CORE),$(call test_file,$(name))) $(ARGS)
test-smoke: $(JAR)
	$(PY) -m pytest -q $(foreach name,$(SMOKE),$(call test_file,$(name))) $(ARGS)

.PHONY: test-matrix
test-matrix: ## Build for each minor version of Spark and run the core tests with it
	@mkdir -p target/matrix; result=0; \
	for spark in $(SPARKS); do \
	  $(MAKE) test-core SPARK=$$spark 2>&1 | tee target/matrix/$$spark.log || result=1; done; \
	for spark in $(SPARKS); do \
	  echo "Spark $$spark: $$(tail -n 1 target/matrix/$$spark.log)"; done; exit $$result

.PHONY: smoke-oldest
smoke-oldest: ## Build for the oldest Spark and run a few tests with it
	$(MAKE) test-smoke SPARK=$(firstword $(SPARKS))

.PHONY: test-cluster
test-cluster: $(JAR) $(PACKED) ## Run on a cluster whose Python is bare, with a packed environment
	$(PY) -m pytest tests/cluster/test_packed_environment.py $(ARGS)

FUZZ = PYTHONPATH=tests $(PY) -m fuzz.$(1) $(if $(CASES),--cases $(CASES)) $(if $(SEED),--seed $(SEED)) $(ARGS)

.PHONY: fuzz fuzz-temporal fuzz-streams fuzz-stream-joins
fuzz: $(JAR) ## Compare random queries with Spark's own plan (CASES: how many, SEED: which)
	$(call FUZZ,joins)

fuzz-temporal: $(JAR) ## Compare random histories with their slices in DuckDB and Spark (CASES, SEED)
	$(call FUZZ,temporal)

fuzz-streams: $(JAR) ## Compare random window unions of streams with Spark in batch (CASES, SEED)
	$(call FUZZ,streams.windows)

fuzz-stream-joins: $(JAR) ## Compare random joins of streams with those of tables (CASES, SEED)
	$(call FUZZ,streams.joins)

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

# What git's hooks check beside the two above. Sources without git are not to be committed either.
.PHONY: lint-text
lint-text: $(VENV)
	! git rev-parse --git-dir >/dev/null || SKIP=python,scala $(PY) -m pre_commit run --all-files

.PHONY: hooks
hooks: $(VENV) ## Have git check each commit
	$(PY) -m pre_commit install

.PHONY: format
format: $(VENV) $(SBT_TOOL) | check-tools ## Rewrite all sources in the project's style
	$(PY) -m ruff check --fix --exit-zero
	$(PY) -m ruff format
	$(call sbt,scalafmtAll scalafmtSbt)

.PHONY: build
build: $(JAR) ## Build the jar: target/jars/ (SPARK: for which Spark, here as everywhere)

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
bench: $(JAR) $(BENCH) ## Compare with other systems in ten minutes; wants a quiet machine (ARGS)
	$(PY) -m benchmarks --minutes 9 $(ARGS)

.PHONY: bench-full
bench-full: $(JAR) $(BENCH) ## Compare with other systems in all cases, some hours (ARGS)
	$(PY) -m benchmarks --full $(ARGS)

.PHONY: bench-kernels
bench-kernels: $(JAR) ## Measure the kernels alone
	$(PY) -m benchmarks.studies.kernels

.PHONY: lock
lock: $(VENV) ## Write constraints*.txt anew: the newest versions that pyproject.toml allows
	$(call compile_lock,--extra dev --extra docs,constraints.txt)
	$(call compile_lock,--extra bench,constraints-bench.txt)

compile_lock = $(PY) -m uv pip compile --quiet --upgrade --universal --python-version 3.11 $(1) \
  --no-header --no-annotate --output-file $(2) pyproject.toml

.PHONY: clean
clean: ## Remove all that was built (not the environments, .venv*)
	rm -rf target project/target project/project dist spark-warehouse metastore_db derby.log
	find . -path "./.venv*" -prune -o -type d \( -name __pycache__ -o -name '.*_cache' \
	  -o -name .hypothesis \) -prune -exec rm -rf {} +

.PHONY: distclean
distclean: clean ## Remove the environments too
	rm -rf .venv .venv-spark*

$(JAR): $(JAR_SOURCES) $(SOURCE_LIST) $(VENV) $(SBT_TOOL) | check-tools
	@rm -rf $(@D)/*-spark$(SPARK)_* $(REPOSITORY)/org/intervalsweep/*-spark$(SPARK)_*
	$(call sbt,package publish)
	@touch $@

# What makes the many JVMs of the tests start in half the time.
$(CLASSES): $(VENV) tests/support/spark/jvm.py tests/support/spark/QuickFiles.java
	PYTHONPATH=tests $(PY) -m support.spark.jvm

$(WHEEL): $(JAR) pyproject.toml tools/hatch_build.py README.md
	$(call build_wheel,$(SPARK))
	@touch $@

build_wheel = rm -rf dist; INTERVALSWEEP_SPARKS="$(1)" \
  $(PY) -m build --wheel --no-isolation --outdir dist

# The lock is that of the newest Spark; without the line of that it serves the others.
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

# Of their own versions: some peers ask for older ones of what the tests use at its newest.
$(BENCH): $(VENV) constraints-bench.txt | $(BENCH_LOCK)
	$(PY) -m pip install --quiet --constraint $(BENCH_LOCK) --editable '.[bench]'
	@touch $@

$(DOCS): $(VENV) | $(LOCK)
	$(PY) -m pip install --quiet --constraint $(LOCK) --editable '.[docs]'
	@touch $@

# What the workers need, for executors whose own Python has none of it.
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

# The first Python that PySpark 4.3 takes, or nothing.
find_python = for p in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done

# What the machine has to bring along, each with one line that says what is missing.
.PHONY: check-tools
check-tools:
	@java=$$("$(JAVA)" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p'); \
	  [ "$${java:-0}" -ge 17 ] || { echo "make: Java 17 or newer is needed (by Spark 4.3), found: \
	$${java:-none}. Install it, or set JAVA_HOME" >&2; exit 1; }
	@[ -n "$$($(find_python))" ] || { echo "make: Python 3.11 or newer is needed (by PySpark 4.3), found: \
	$$(python3 -V 2>/dev/null || echo none). Install it, or: make PYTHON=/path/to/python3" >&2; exit 1; }
	@command -v sbt >/dev/null || command -v mvn >/dev/null || { \
	  echo "make: sbt or Maven is needed to build the jar, found: none. Install one of them" >&2; exit 1; }
