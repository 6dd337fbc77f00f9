# Nothing is done twice: packages are installed when package-lock.json changed, and src/ is compiled when it changed.
.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-nightly coverage test-unit suite types imports format unused links api-document settings-document metrics-document causes-document producers receivers try-package run lint build bench bench-against clean up down
.DELETE_ON_ERROR:

BIN := node_modules/.bin
# A native module fits one version of Node's binary interface, so another Node has its module checked again.
ABI := $(shell node -p process.versions.modules 2>/dev/null)
INSTALLED := node_modules/.installed-$(ABI)
BUILT := dist/.built
# Folders too: their time changes when a file in them is removed.
SOURCES := $(shell find src projections)
# Node 20 knows no TypeScript.
TYPESCRIPT := node --import ./scripts/typescript/register.js

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1: /p' Makefile | awk -F': ' '{ printf "  make %-17s %s\n", $$1, $$2 }'

demo: $(BUILT) ## the whole story on this machine, in under a minute (KEEP=1: a service with a day of history, and its console)
	@node dist/main.js demo $(if $(KEEP),--keep)

test: $(BUILT) ## build, lint, and the tests, with smaller numbers and without those that guard what seldom changes
	@TEST_LESS=1 $(MAKE) --silent --no-print-directory --jobs=2 suite lint

test-all: $(BUILT) ## the same in full: all faults, both ends of stores and brokers, every screen; and try-package
	@TEST_ALL=1 $(MAKE) --silent --no-print-directory --jobs=2 suite lint try-package

test-nightly: $(BUILT) ## what is too long for each commit, in parts (PART=kills is one, PART=of-commit the one of CI)
	@PART=$(PART) node test/runner/nightly.js

# The first of two jobs: while it starts a Kafka it leaves a core idle, and lint is half a minute of a core.
suite:
	@npm test --silent

coverage: $(BUILT) ## which lines of src/ make test-all runs, in all of its processes (ARGS=test/e2e: those test files)
	@node test/runner/coverage.js $(ARGS)

test-unit: $(BUILT) ## the tests that need neither servers nor processes of the service
	@npm test --silent -- --selectProjects unit

api-document: $(INSTALLED) ## writes docs/api.md, from what /openapi.json says
	@$(TYPESCRIPT) scripts/document.js docs/api.md

settings-document: $(INSTALLED) ## writes the tables of docs/settings.md, from src/settings/table.ts
	@$(TYPESCRIPT) scripts/document.js docs/settings.md

metrics-document: $(INSTALLED) ## writes the table of metrics in docs/operations.md, from src/observability/metrics-table.ts
	@$(TYPESCRIPT) scripts/document.js docs/operations.md

causes-document: $(INSTALLED) ## writes the table of causes in docs/receivers.md, from src/endpoints/attempt-causes.ts
	@$(TYPESCRIPT) scripts/document.js docs/receivers.md

receivers: $(BUILT) ## runs the receivers of docs/receivers.md, in five languages; fetches their libraries
	@sh scripts/try-documents.sh receivers

producers: $(BUILT) ## runs the producers of docs/payment-events.md; fetches their libraries
	@sh scripts/try-documents.sh producers

try-package: $(INSTALLED) ## packs the service in a fresh clone, installs it in an empty folder, and runs the demo there
	@sh scripts/try-package.sh

run: $(BUILT) ## the service, on 127.0.0.1:8080 (ARGS="--roles api" adds arguments)
	@node dist/main.js serve $(ARGS)

lint: types imports format unused links ## formatting, lint rules, types, imports, unused code, and dead links in the documents

types: $(INSTALLED)
	$(BIN)/tsc -p tsconfig.json --incremental --tsBuildInfoFile dist/.types-checked
	$(BIN)/tsc -p src/console --incremental --tsBuildInfoFile dist/.console-types-checked

imports: $(INSTALLED)
	$(BIN)/depcruise src projections

format: $(INSTALLED)
	$(BIN)/biome check --error-on-warnings

unused: $(INSTALLED)
	$(BIN)/knip

links: $(INSTALLED)
	@node scripts/check-links.js

build: $(BUILT) ## dist/main.js, the account-webhooks command

bench: $(BUILT) ## every benchmark, 20 minutes; writes docs/benchmarks.md (BENCH_ONLY=pipeline,get is some of them)
	@$(TYPESCRIPT) bench/run.ts

bench-against: $(BUILT) ## another commit beside this one, by turns (COMMIT=… BENCH_ONLY=pipeline,get): the ratio of their figures
	@COMMIT=$(COMMIT) $(TYPESCRIPT) bench/against.ts

up: .env ## the service with EventStoreDB and Kafka, by docker compose
	docker compose up --build --wait

down: ## stops them; their data stays (docker compose down --volumes removes it)
	docker compose down

# Compose reads it by itself. Whoever has the key opens every sealed secret of the installation.
.env:
	@(umask 077; echo "MASTER_KEY=$$(openssl rand -base64 32)" > $@)
	@echo 'drew a master key into .env: keep it'

clean: ## removes what was built and installed (not data/)
	rm -rf dist node_modules

$(INSTALLED): package-lock.json
	@sh scripts/install.sh
	@rm -f node_modules/.installed-* && touch $@

# Types are checked by lint, and by npm run build: here that takes ten times the time of the rest.
$(BUILT): $(INSTALLED) $(SOURCES) package.json tsconfig.json scripts/bundle.js scripts/console-bundle.js
	@node scripts/bundle.js
	@touch $@
