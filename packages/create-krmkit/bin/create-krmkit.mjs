#!/usr/bin/env node
import { existsSync } from 'node:fs'

const program = new URL('../dist/main.js', import.meta.url)
if (existsSync(program)) await import(program.href)
else {
  console.error('create-krmkit: not built yet; run `npm run build`')
  process.exitCode = 1
}
