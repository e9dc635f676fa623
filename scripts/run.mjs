#!/usr/bin/env node
// `node scripts/run.mjs NAME [ARGUMENTS]`: runs `main` of packages/tools/src/NAME.ts. Installs dependencies and bundles the tools first, since
// Node 20 cannot run TypeScript.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { root, setup } from './setup.mjs'

const sources = join(root, 'packages/tools/src')
const bundles = join(root, 'node_modules/.cache/tools')

/** The modules of the tools, as paths from their folder without an extension. */
function modules() {
  return readdirSync(sources, { recursive: true })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => file.slice(0, -'.ts'.length).replaceAll('\\', '/'))
    .sort()
}

/** Imports a module of the tools: `bundle`, `lib/workspace`. All are bundled again when one of them has changed. */
export async function tool(name) {
  setup()
  const folder = join(bundles, digestOfSources())
  if (!existsSync(folder)) await build(folder)
  return import(pathToFileURL(join(folder, `${name}.mjs`)).href)
}

function digestOfSources() {
  const hash = createHash('sha256').update(readFileSync(fileURLToPath(import.meta.url)))
  for (const name of modules()) hash.update(`\n${name}\n`).update(readFileSync(join(sources, `${name}.ts`)))
  return hash.digest('hex').slice(0, 16)
}

/** Bundles beside the place of the folder first, since several processes may do so at once. */
async function build(folder) {
  const { rolldown } = await import('rolldown')
  const bundle = await rolldown({
    input: Object.fromEntries(modules().map((name) => [name, join(sources, `${name}.ts`)])),
    platform: 'node',
    external: (id) => !id.startsWith('.') && !isAbsolute(id),
  })
  const draft = `${folder}-${process.pid}`
  await bundle.write({
    dir: draft,
    format: 'esm',
    sourcemap: true,
    entryFileNames: '[name].mjs',
    chunkFileNames: 'chunks/[name]-[hash].mjs',
  })
  await bundle.close()
  if (existsSync(folder)) rmSync(draft, { recursive: true })
  else renameSync(draft, folder)
  const old = readdirSync(bundles).filter((name) => /^[0-9a-f]{16}$/.test(name) && join(bundles, name) !== folder)
  for (const name of old) rmSync(join(bundles, name), { recursive: true, force: true })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name = '', ...args] = process.argv.slice(2)
  const names = modules().filter((module) => !module.includes('/'))
  if (!names.includes(name)) {
    console.error(`unknown tool ${JSON.stringify(name)}; available: ${names.join(', ')}`)
    process.exit(2)
  }
  process.setSourceMapsEnabled(true)
  const { main } = await tool(name)
  await main(args)
}
