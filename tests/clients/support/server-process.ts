import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A server as started by `npm start`, in a separate process. */
export interface ServerProcess {
  readonly url: string
  /** Milliseconds from process start to readiness. */
  readonly startMs: number
  /** Its standard error output. */
  readonly errors: () => string
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<void>
  /** Sends SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
}

const startScript = fileURLToPath(new URL('../../../scripts/start.mjs', import.meta.url))

/** Starts a server and waits until it prints that it is ready. @throws Error when it exits first. */
export async function startServerProcess(flags: readonly string[]): Promise<ServerProcess> {
  const started = performance.now()
  const { child, ended, errors } = launchServer(flags)
  const lines = createInterface(child.stdout as NonNullable<ChildProcess['stdout']>)
  const url = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      const ready = /^krmkit serves (https:\/\/\S+?);? /.exec(line)
      if (ready?.[1] !== undefined) resolve(ready[1])
    })
    void ended.then((code) => reject(new Error(`the server ended with ${code} before it was ready: ${errors()}`)))
  })
  return {
    url,
    errors,
    startMs: performance.now() - started,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    stop() {
      child.kill('SIGTERM')
      return ended
    },
  }
}

/** Starts a server and kills it after `lifeMs`, in any state. */
export async function killEarly(flags: readonly string[], lifeMs: number): Promise<void> {
  const { child, ended } = launchServer(flags)
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, lifeMs))])
  child.kill('SIGKILL')
  await ended
}

/** An unused port. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

function launchServer(flags: readonly string[]) {
  const child = spawn(process.execPath, [startScript, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code))
  })
  return { child, ended, errors: () => text }
}
