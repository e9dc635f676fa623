#!/usr/bin/env node
// `npm run divergence -- [--steps 2000] [--seed N] [--area NAME]`: compares krmkit with the stock server (KRMKIT_PEER) on random scenarios.
import { bundle, bundleFile } from './bundle.mjs'
import { runBundled } from './run-bundled.mjs'
import { setup } from './setup.mjs'

setup()
bundle()
await runBundled('tests/differential/run.ts', { name: 'differential', args: ['--krmkit', bundleFile, ...process.argv.slice(2)] })
