# Fencepost's front door: `make run` and `make test` set up all they need in .venv and .venv-engine.
# Wanted beforehand: make and Python 3.11 or newer (PYTHON=... names another than python3).

PYTHON ?= python3
BIN := .venv/bin
# One more than the two cores that they are meant for, since tests of the live service mostly wait.
TEST_WORKERS ?= 3
ARGS ?=
HYPOTHESIS_PROFILE ?= ci
export HYPOTHESIS_PROFILE

# Bytecode makes every start of the tools several times faster, whatever the caller's shell says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup setup-run run test test-fast lint test-time test-storm test-outage test-crash test-deployed test-sim sim sim-mutants bench check format synth lock clean

help: ## Show the targets
	@grep -E '^[a-z-]+:.*## ' Makefile | sed 's/:.*## /|/' | awk -F'|' '{printf "  %-12s %s\n", $$1, $$2}'

setup: ## Set up everything for development; nothing to do when the locks are unchanged
	@$(PYTHON) scripts/setup.py dev engine

setup-run:
	@$(PYTHON) scripts/setup.py run engine

run: setup-run ## Start the service on this machine with a demo team (ARGS=... are passed on)
	@$(BIN)/fencepost local --demo $(ARGS)

.PHONY: setup-browser test-browser console pictures

# The longest tests take minutes and have targets of their own.
SHORT := not time_full and not storm_full and not outage_full and not crash_full and not deployed
CHROMIUM := $(or $(FENCEPOST_CHROMIUM),$(shell for name in chromium chromium-browser google-chrome \
	google-chrome-stable; do command -v $$name && break; done 2>/dev/null))

test: setup ## All tests but the longest ones; the browser's where there is a Chromium (ARGS=... goes to pytest)
	@$(if $(CHROMIUM),$(MAKE) -s setup-browser,echo "no Chromium on this machine: the browser tests do not run")
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadgroup -m "$(SHORT)" $(ARGS)

# The accessibility checker comes with the console's own packages, for which Node is wanted.
setup-browser: setup
	@$(PYTHON) scripts/setup.py browser
	@[ -d console/node_modules ] || ! command -v npm >/dev/null || (cd console && npm ci --silent --no-audit --no-fund)

test-browser: setup-browser ## Click through the console in the machine's Chromium
	$(BIN)/python -m pytest -m browser tests/browser $(ARGS)

console: ## Build the web console into the package (needs Node and npm)
	@cd console && npm ci && npm run check && npm test && npm run build

pictures: setup-browser ## Take the pictures of docs/console anew
	@$(BIN)/python -m tests.browser.pictures

test-fast: setup ## The tests of single parts and of the claim, which need no process beside them
	$(BIN)/python -m pytest -q -n $(TEST_WORKERS) --dist loadgroup -m "not engine and not live" tests/unit tests/scenario/scanning $(ARGS)

test-time: setup ## Compare schedules with the time-zone data at length
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadgroup -m time_full $(ARGS)

test-storm: setup ## Crowds of 10,000 and 50,000 firings in the timed model
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadgroup -m storm_full $(ARGS)

test-outage: setup ## Two real minutes without the local service, killed and stopped, on a file and on the engine
	$(BIN)/python -m pytest -m outage_full $(ARGS)

test-crash: setup ## A story that dies at each of its calls, on the real adapters over the local engine
	$(BIN)/python -m pytest -n $(TEST_WORKERS) -m crash_full -rP tests/crash $(ARGS)

test-deployed: setup ## The templates and packaged assets deployed to the local engine, called over signed HTTP
	$(BIN)/python -m pytest -m deployed tests/infra/test_deployed.py $(ARGS)

test-sim: setup ## N=200 simulated histories that nobody has seen; the first seed is printed
	SIM_N=$(or $(N),200) $(BIN)/python -m pytest -n $(TEST_WORKERS) -k nobody_has_seen tests/simulation $(ARGS)

sim: setup ## Simulate the service under faults (SEED=n: one history; N=20000: that many)
	$(BIN)/python -m tests.simulation $(if $(SEED),--seed $(SEED)) $(if $(N),--n $(N)) $(ARGS)

sim-mutants: setup ## Take rules of the protocol away, one by one, and see that the simulator notices
	$(BIN)/python -m tests.simulation --mutants $(ARGS)

bench: setup ## Measure calls, units, CPU, crowds and dollars, and write docs/performance.md (ARGS=counts: less)
	$(BIN)/python -m tests.bench $(ARGS)

.PHONY: bench-peers
bench-peers: setup ## Run other schedulers beside Fencepost on this machine (needs redis-server, postgres, node)
	@$(PYTHON) scripts/setup.py peers
	@cd tests/bench/peers/node && npm ci --silent --ignore-scripts
	$(BIN)/python -m tests.bench.peers --write $(ARGS)

check: lint test-fast ## The gate: format, lint, types, direction of imports, fast tests

lint: setup ## The gate without the tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: setup ## Rewrite the code as the formatter and the safe fixes of the linter want it
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Stages: STAGE=dev, staging or prod; CONTEXT="-c admins=arn:... -c account=..." is passed on.
STAGE ?= dev
CONTEXT ?=
CDK := $(BIN)/python -m infra.deploy
.PHONY: layers bootstrap deploy deploy-local verify

synth: setup ## Synthesise a stage into cdk.out: no account, no Docker (STAGE=dev)
	@$(BIN)/python -m infra.app -c stage=$(STAGE) $(CONTEXT)
	@echo "the templates and assets of stage $(STAGE) lie in cdk.out"

layers: setup ## Build the layers and the functions' assets, and say where they lie
	@$(BIN)/python -m infra.packaging

bootstrap: setup ## Prepare an account and region for deployments, once
	@$(CDK) bootstrap -c stage=$(STAGE) $(CONTEXT)

deploy: setup ## Deploy a stage into the account of the shell's credentials (STAGE=dev)
	@$(CDK) deploy --all --require-approval never -c stage=$(STAGE) $(CONTEXT)

verify: setup ## Prove a deployed stage's lateness from its ledger (STAGE=dev)
	@$(BIN)/python scripts/verify.py $(STAGE) $(ARGS)

deploy-local: setup ## Deploy the templates to the local AWS engine, signatures checked, until Ctrl-C
	@$(BIN)/python -m infra.local

# No --upgrade: what is locked stays, unless its .in asks for something else (ARGS=--upgrade renews all).
lock: setup ## Write requirements/*.lock anew from requirements/*.in
	@cd requirements && for name in bootstrap runtime tools dev infra browser engine peers; do \
		../$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header \
			$(ARGS) $$name.in -o $$name.lock || exit 1; done

clean: ## Remove what the other targets made, the environments included
	rm -rf .venv .venv-engine .venv-peers tests/bench/peers/node/node_modules build cdk.out .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
