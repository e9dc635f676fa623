#!/usr/bin/env node
// `npm run attacks -- [--family NAME] [--only TEXT] [--seed N] [--short] [--json]`: attacks a server, and prints a table.
import { runBundled } from './run-bundled.mjs'

await runBundled('tests/attacks/run.ts', { name: 'attacks', args: process.argv.slice(2) })
