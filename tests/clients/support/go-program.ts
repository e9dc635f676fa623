import { access, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheFolder, hashOf, lastLine, run } from './tool.ts'

export interface GoProgram {
  readonly path: string
  /** Why the build failed; undefined on success. */
  readonly missing?: string
}

/** Builds a Go program once per state of its sources. @param sources its folder; by default one beside the tests */
export async function goProgram(
  name: string,
  sources = fileURLToPath(new URL(`../${name}/`, import.meta.url)),
): Promise<GoProgram> {
  const folder = await cacheFolder('go')
  const names = (await readdir(sources)).filter((file) => /\.(go|mod|sum)$/.test(file)).sort()
  const contents = await Promise.all(names.map((file) => readFile(join(sources, file))))
  const path = join(folder, `${name}-${hashOf(...contents)}`)
  const isBuilt = await access(path).then(
    () => true,
    () => false,
  )
  if (isBuilt) return { path }
  const env = {
    ...process.env,
    GOMODCACHE: join(folder, 'mod'),
    GOCACHE: join(folder, 'build'),
    GOFLAGS: '-modcacherw -buildvcs=false',
    GOTOOLCHAIN: 'local',
    CGO_ENABLED: '0',
  }
  // An interrupted build leaves its compiled packages to the next one.
  const built = await run('go', ['build', '-o', path, '.'], { cwd: sources, env, timeoutMs: 240_000 })
  return built.code === 0 ? { path } : { path, missing: lastLine(built) || 'go build did not finish in time' }
}
