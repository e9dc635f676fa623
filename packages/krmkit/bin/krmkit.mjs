#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'

const built = ['../dist/cli/main.js', '../dist/bundle/main.cjs']
  .map((path) => new URL(path, import.meta.url))
  .find((url) => existsSync(url))
if (built === undefined) {
  console.error('krmkit: not built yet; run `npm run build`, or `npm start` to serve from the sources')
  process.exit(1)
}
// Node 20 optimizes a function after so little use that a short-lived server spends a quarter of its processor time on compilation.
if (process.versions.node.startsWith('20.')) setFlagsFromString('--interrupt-budget=400000')
await import(built.href)
