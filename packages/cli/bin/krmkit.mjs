#!/usr/bin/env node
// Runs the bundle, which starts several times as fast as the modules of the packages. A checkout without a bundle runs its build.
import { existsSync } from 'node:fs'

const program = ['../dist/bundle/main.cjs', '../dist/main.js']
  .map((path) => new URL(path, import.meta.url))
  .find((url) => existsSync(url))
if (program === undefined) {
  console.error('krmkit: not built yet; run `npm run build`, or `npm start` to serve from the sources')
  process.exit(1)
}
await import(program.href)
