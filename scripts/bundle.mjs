#!/usr/bin/env node
// Bundles the command `krmkit` from the sources into packages/krmkit/dist/bundle, only when a source has changed.
// Dynamic imports stay separate files, so that what a start does not need is not read.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root, setup } from './setup.mjs'

const out = join(root, 'packages/krmkit/dist/bundle')
const stampFile = join(out, 'sources.stamp')
export const bundleFile = join(out, 'krmkit.mjs')
/** Packages with native parts cannot be bundled: the bundle points at them where they are installed. */
const native = { lmdb: 'packages/storage' }

/** Brings the bundle up to date, in a process of its own so that the bundler's memory is given back. */
export function bundle() {
  if (isFresh()) return
  const { status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url)], { stdio: ['ignore', 2, 2] })
  if (status !== 0) {
    console.error('krmkit: bundling failed')
    process.exit(status ?? 1)
  }
}

function isFresh() {
  return existsSync(bundleFile) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === sourcesStamp()
}

/** Changes when a file that may go into the bundle comes, goes or changes. */
function sourcesStamp() {
  const hash = createHash('sha256').update(process.version)
  const add = (file) => {
    const { mtimeMs, size } = statSync(file)
    hash.update(`${file} ${mtimeMs} ${size}\n`)
  }
  add(fileURLToPath(import.meta.url))
  add(join(root, 'pnpm-lock.yaml'))
  for (const name of readdirSync(join(root, 'packages')).sort()) {
    const folder = join(root, 'packages', name)
    if (!existsSync(join(folder, 'package.json'))) continue
    add(join(folder, 'package.json'))
    for (const entry of readdirSync(join(folder, 'src'), { recursive: true, withFileTypes: true })) {
      if (entry.isFile() && !entry.name.includes('.test')) add(join(entry.parentPath ?? entry.path, entry.name))
    }
  }
  return hash.digest('hex')
}

async function build() {
  const stamp = sourcesStamp()
  const { rolldown } = await import('rolldown')
  const build = await rolldown({
    input: join(root, 'packages/krmkit/src/cli/main.ts'),
    platform: 'node',
    resolve: { conditionNames: ['source', 'import', 'module', 'node', 'default'] },
    plugins: [nativePackages()],
    onLog(level, log, handler) {
      if (log.code !== 'EVAL' && log.code !== 'CIRCULAR_DEPENDENCY') handler(level, log)
    },
  })
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  await build.write({
    dir: out,
    format: 'esm',
    entryFileNames: 'krmkit.mjs',
    chunkFileNames: '[name]-[hash].mjs',
    minify: { mangle: false, compress: true, codegen: true },
  })
  await build.close()
  writeFileSync(stampFile, stamp)
}

function nativePackages() {
  return {
    name: 'native-packages',
    resolveId(source) {
      const owner = native[source]
      if (owner === undefined) return null
      const file = realpathSync(createRequire(join(root, owner, 'package.json')).resolve(source))
      const entry = join(packageFolder(file), esmEntry(packageFolder(file)))
      const path = relative(out, entry).replaceAll('\\', '/')
      return { id: path.startsWith('.') ? path : `./${path}`, external: true }
    },
  }
}

function packageFolder(file) {
  let folder = dirname(file)
  while (
    !existsSync(join(folder, 'package.json')) ||
    JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name === undefined
  )
    folder = dirname(folder)
  return folder
}

function esmEntry(folder) {
  const { exports, module, main } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const entry = exports?.['.'] ?? exports
  const pick = (value) =>
    typeof value === 'string' ? value : value && (pick(value.node) ?? pick(value.import) ?? pick(value.default))
  return pick(entry) ?? module ?? main
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  setup()
  if (!isFresh()) await build()
}
