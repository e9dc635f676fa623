import { access, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheFolder, hashOf, lastLine, run } from './tool.ts'

/** Builds the programs of `java/` once per state of their sources. */
export async function javaProgram(): Promise<{ readonly classPath: string; readonly missing?: string }> {
  const sources = fileURLToPath(new URL('../java/', import.meta.url))
  const files = (await readdir(sources, { recursive: true })).filter((name) => /^(?!target).*\.(java|xml)$/.test(name)).sort()
  const contents = await Promise.all(files.map((name) => readFile(join(sources, name))))
  const folder = join(await cacheFolder('java'), hashOf(...contents))
  const classPath = [join(folder, 'target/classes'), join(folder, 'target/lib/*')].join(':')
  const done = join(folder, 'built')
  const isBuilt = await access(done).then(
    () => true,
    () => false,
  )
  if (isBuilt) return { classPath }
  await mkdir(folder, { recursive: true })
  for (const name of files) await cp(join(sources, name), join(folder, name))
  const built = await run('mvn', ['--quiet', '--batch-mode', '--no-transfer-progress', 'package'], {
    cwd: folder,
    timeoutMs: 240_000,
  })
  if (built.code !== 0) return { classPath, missing: lastLine(built) || 'mvn package did not finish in time' }
  await writeFile(done, '')
  return { classPath }
}
