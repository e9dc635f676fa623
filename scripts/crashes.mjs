#!/usr/bin/env node
// `npm run crashes -- [--kills 200] [--full-disks 20] [--flips 20] [--seed 1]`: kills writers of durable stores, fills disks, flips bits.
import { runBundled } from './run-bundled.mjs'

// The bundle finds the optional packages of storage.
const folder = 'packages/storage/node_modules/.cache'
await runBundled('tests/crashes/run.ts', { name: 'crashes', args: process.argv.slice(2), folder })
