#!/usr/bin/env node
// `npm run fuzz -- [--requests 1000000] [--seed N] [--transport http1|http2|in-process|all] [--only INDEX]`: random requests.
// `npm run fuzz -- --kept-alive [--requests N] [--transport NAME|all]`: requests of all sizes over kept connections, each of which is answered.
import { runBundled } from './run-bundled.mjs'

await runBundled('tests/fuzz/run.ts', { name: 'fuzz', args: process.argv.slice(2), nodeFlags: ['--expose-gc'] })
