# SPDX-License-Identifier: GPL-2.0
# Thin verbs; the logic is in scripts/. 'make help' explains each.

MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := help

# Given on make's command line, these reach the scripts through the environment.
export LINUX SIGNOFF FORCE CLIENT SERVER COND LOAD REPEAT CONTROL DURATION SEED ENCTYPE LAYER MATRIX
export SIDE KUNIT KUNIT_ARCH CONTROLS GOOD BAD TEST QUICK

.PHONY: help run check matrix tree refresh series kunit rig rig-list bisect bisectable alone lint report deps clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

run: ## the main job: load on base and on patched guests side by side, a table and an HTML page
	@scripts/deps build rig report
	@scripts/run

check: ## the tests that guard every change (CI); at most 60 minutes cold on 2 cores
	@scripts/deps build rig report lint
	@scripts/check

matrix: ## the long acceptance matrix, whole or MATRIX=name; resumes
	@scripts/deps build rig report
	@scripts/matrix

tree: ## build/linux-7.3: a git tree, the base commit plus one commit per patch (LINUX=tree-or-tarball)
	@scripts/deps build
	@scripts/tree

refresh: ## regenerate patches/ and the new files from that tree's commits
	@scripts/deps build
	@scripts/refresh

series: ## build/series/: mails for git am or git send-email (SIGNOFF='Name <mail>')
	@scripts/deps build
	@scripts/series

kunit: ## KUnit suites and their controls (KUNIT=glob SIDE= KUNIT_ARCH=um|x86_64 CONTROLS=)
	@scripts/deps build $(if $(filter x86_64,$(KUNIT_ARCH)),rig)
	@scripts/kunit

rig: ## chosen rig conditions: CLIENT= SERVER= COND= DURATION= REPEAT= LAYER=guest|debug LOAD=script
	@scripts/deps build rig
	@scripts/rig

rig-list: ## the conditions and shapes that COND= knows
	@scripts/rig-list

bisect: ## first bad commit of the series: COND=, KUNIT= or TEST='command', with GOOD= BAD=
	@scripts/deps build rig
	@scripts/bisect

bisectable: ## build every commit of the series, and run its KUnit suites (QUICK=1 as make check does)
	@scripts/deps build
	@scripts/bisectable

alone: ## build on the base each fix that stands alone, and all of them together
	@scripts/deps build
	@scripts/alone

lint: ## checkpatch --strict, sparse, W=1, kernel-doc on the series; shellcheck, pyflakes on the tools
	@scripts/deps build lint
	@scripts/lint

report: ## render the newest results again (RESULTS=folder)
	@scripts/deps report
	@scripts/report $(RESULTS)

deps: ## install every Debian package that the verbs above need
	@scripts/deps build rig report lint

clean: ## remove build/ (results too); the cache folder stays
	@rm -rf build
