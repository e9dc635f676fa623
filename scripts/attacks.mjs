#!/usr/bin/env node
// `npm run attacks -- [--family NAME] [--seed N] [--short] [--json]`: attacks a server by families and prints a table.
import { runBundled } from './run-bundled.mjs'

await runBundled('tests/attacks/run.ts', { name: 'attacks', args: process.argv.slice(2) })
