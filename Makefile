# Nothing is done twice: packages are installed when package-lock.json changed, and src/ is compiled when it changed.
.DEFAULT_GOAL := help
.PHONY: help demo test faults run lint build bench clean up down
.DELETE_ON_ERROR:

BIN := node_modules/.bin
# A native module fits one version of Node's binary interface, so another Node has its module checked again.
ABI := $(shell node -p process.versions.modules 2>/dev/null)
INSTALLED := node_modules/.installed-$(ABI)
BUILT := dist/.built
# Folders too: their time changes when a file in them is removed.
SOURCES := $(shell find src projections)
BENCHMARKS = $(wildcard bench/*.bench.*)

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1: /p' Makefile | awk -F': ' '{ printf "  make %-7s %s\n", $$1, $$2 }'

demo: $(BUILT) ## the whole story on this machine, in under a minute
	@node dist/main.js demo

test: $(BUILT) lint ## build, lint, and every test
	@npm test --silent

faults: $(BUILT) ## the fault suite; writes what it counted into docs/reliability.md
	@node scripts/fault-counts.js

run: $(BUILT) ## the service, on 127.0.0.1:8080 (ARGS="--roles api" adds arguments)
	@node dist/main.js serve $(ARGS)

lint: $(INSTALLED) ## formatting, lint rules, types, and what may import what
	$(BIN)/biome check --error-on-warnings
	$(BIN)/tsc -p tsconfig.json
	$(BIN)/depcruise src projections

build: $(BUILT) ## dist/main.js, the account-webhooks command

bench: $(BUILT) ## every benchmark in bench/
	@for file in $(BENCHMARKS); do echo "== $$file"; node "$$file" || exit 1; done
	@test -n "$(BENCHMARKS)" || echo 'no benchmarks yet'

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

$(BUILT): $(INSTALLED) $(SOURCES) package.json tsconfig.json tsconfig.build.json
	npm run build --silent
	@touch $@
