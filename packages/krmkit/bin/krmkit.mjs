#!/usr/bin/env node
import { existsSync } from 'node:fs'

const built = ['../dist/cli/main.js', '../dist/bundle/main.cjs']
  .map((path) => new URL(path, import.meta.url))
  .find((url) => existsSync(url))
if (built === undefined) {
  console.error('krmkit: not built yet; run `npm run build`, or `npm start` to serve from the sources')
  process.exit(1)
}
await import(built.href)
