#!/usr/bin/env node
// `npm run histories -- [--backend memory|lmdb|follower|etcd] [--runs 200] [--seed 1]`: checks recorded histories of concurrent clients.
import { runBundled } from './run-bundled.mjs'

// The bundle finds the optional packages of storage.
const folder = 'packages/storage/node_modules/.cache'
await runBundled('tests/histories/run.ts', { name: 'histories', args: process.argv.slice(2), folder })
