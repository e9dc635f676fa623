#!/usr/bin/env node
// Builds the playground into static files, for any web server. `npm run playground [-- FOLDER]`; default playground/dist.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Modules that import Node built-ins are read before what the page does not use of them is left out; the result is checked. */
const expected = new Set(['EVAL', 'CIRCULAR_DEPENDENCY', 'UNRESOLVED_IMPORT', 'INEFFECTIVE_DYNAMIC_IMPORT'])

/**
 * Builds the playground. The folder is emptied first.
 *
 * @param {string} folder
 * @returns {Promise<{ name: string, bytes: number, gzipBytes: number }[]>} the files
 */
export async function buildPlayground(folder) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const build = await rolldown({
    input: { main: `${root}playground/src/page/main.ts`, worker: `${root}playground/src/worker.ts` },
    cwd: root,
    platform: 'browser',
    resolve: { conditionNames: ['source', 'browser', 'import', 'module', 'default'] },
    onLog(level, log, handler) {
      if (!expected.has(log.code)) handler(level, log)
    },
  })
  const { output } = await build.write({ dir: folder, format: 'es', minify: true, chunkFileNames: 'chunks/[name]-[hash].js' })
  await build.close()
  const missing = output.flatMap(({ fileName, imports = [] }) =>
    imports.filter((name) => name.startsWith('node:')).map((name) => `${fileName} imports ${name}`),
  )
  if (missing.length > 0) throw new Error(`the playground needs Node: ${missing.join(', ')}`)
  for (const name of ['index.html', 'style.css']) cpSync(`${root}playground/${name}`, join(folder, name))
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const bytes = readFileSync(path)
      return { name: path.slice(folder.length + 1), bytes: bytes.length, gzipBytes: gzipSync(bytes).length }
    })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = resolve(process.argv[2] ?? `${root}playground/dist`)
  const files = await buildPlayground(folder)
  const total = files.reduce((sum, { gzipBytes }) => sum + gzipBytes, 0)
  console.log(`${folder}: ${files.length} files, ${Math.round(total / 1000)} kB with gzip`)
}
