import { access, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { cacheFolder, hashOf, lastLine, run } from './tool.ts'

export interface GoProgram {
  readonly path: string
  /** Why the build failed; undefined on success. */
  readonly missing?: string
}

const clients = fileURLToPath(new URL('../go/', import.meta.url))

/** Cold caches need several minutes on two processors. */
const timeoutMs = 600_000

/**
 * A Go program of a module, all programs of which are built at once, so that what they have in common is compiled once.
 *
 * @param name its folder in the module, or the last element of the path of a module that is one program
 * @param module the folder of the module. Default: the clients.
 */
export async function goProgram(name: string, module = clients): Promise<GoProgram> {
  const folder = await cacheFolder('go')
  const files = (await readdir(module, { recursive: true })).filter((file) => /\.(go|mod|sum)$/.test(file)).sort()
  const contents = await Promise.all(files.map((file) => readFile(join(module, file))))
  const built = join(folder, hashOf(files.join('\n').replaceAll(sep, '/'), ...contents))
  const missing = (await exists(built)) ? undefined : await buildOnce(module, built)
  const path = join(built, name)
  return missing === undefined ? { path } : { path, missing }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** Builds a module, or waits while another thread does. @returns why the build failed */
async function buildOnce(module: string, built: string): Promise<string | undefined> {
  const [lock, partial] = [`${built}.lock`, `${built}.partial`]
  const deadline = Date.now() + timeoutMs
  while (!(await isMade(lock))) {
    if (Date.now() > deadline) return `${lock} of another build is still there`
    await sleep(500)
  }
  try {
    if (await exists(built)) return undefined
    // The caches of Go are those of the user: a fresh clone compiles nothing again.
    const env = { ...process.env, GOFLAGS: '-buildvcs=false', GOTOOLCHAIN: 'local', CGO_ENABLED: '0' }
    const { code, ...output } = await run('go', ['build', '-o', `${partial}/`, './...'], { cwd: module, env, timeoutMs })
    if (code !== 0) return lastLine({ code, ...output }) || 'go build did not finish in time'
    await rename(partial, built)
    return undefined
  } finally {
    await rm(lock, { recursive: true })
  }
}

function isMade(folder: string): Promise<boolean> {
  return mkdir(folder).then(
    () => true,
    () => false,
  )
}
