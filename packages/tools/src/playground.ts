/** Builds the playground into static files, for any web server. `npm run playground [-- FOLDER]`; default playground/dist. */
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { filesBelow, root } from './lib/workspace.ts'

const source = join(root, 'playground')

/** Modules that import Node built-ins are read before what the page does not use of them is left out; the result is checked. */
const expected = new Set(['EVAL', 'CIRCULAR_DEPENDENCY', 'UNRESOLVED_IMPORT', 'INEFFECTIVE_DYNAMIC_IMPORT'])

export interface PlaygroundFile {
  readonly name: string
  readonly bytes: number
  readonly gzipBytes: number
}

export async function main([path]: readonly string[]): Promise<void> {
  const folder = resolve(path ?? join(source, 'dist'))
  const files = await buildPlayground(folder)
  const total = files.reduce((sum, { gzipBytes }) => sum + gzipBytes, 0)
  console.log(`${folder}: ${files.length} files, ${Math.round(total / 1000)} kB with gzip`)
}

/** Builds the playground. The folder is emptied first. */
export async function buildPlayground(folder: string): Promise<PlaygroundFile[]> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const build = await rolldown({
    input: { main: join(source, 'src/page/main.ts'), worker: join(source, 'src/worker.ts') },
    cwd: root,
    platform: 'browser',
    resolve: { conditionNames: ['source', 'browser', 'import', 'module', 'default'] },
    onLog(level, log, handler) {
      if (!expected.has(log.code ?? '')) handler(level, log)
    },
  })
  const { output } = await build.write({ dir: folder, format: 'es', minify: true, chunkFileNames: 'chunks/[name]-[hash].js' })
  await build.close()
  const missing = output.flatMap((file) =>
    file.type === 'asset'
      ? []
      : file.imports.filter((name) => name.startsWith('node:')).map((name) => `${file.fileName} imports ${name}`),
  )
  if (missing.length > 0) throw new Error(`the playground needs Node: ${missing.join(', ')}`)
  for (const name of ['index.html', 'style.css']) cpSync(join(source, name), join(folder, name))
  return filesBelow(folder).map((name) => {
    const bytes = readFileSync(join(folder, name))
    return { name, bytes: bytes.length, gzipBytes: gzipSync(bytes).length }
  })
}
