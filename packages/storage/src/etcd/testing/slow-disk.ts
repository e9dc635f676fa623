/** Simulates slow flushes to disk: strace delays the flush system calls of a process. */
import { execFileSync, spawn } from 'node:child_process'

/** Reason why tests of slow disks are skipped; undefined where they can run. */
export function withoutSlowDisks(): string | undefined {
  try {
    execFileSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' })
    return undefined
  } catch {
    return 'strace is missing or must not trace'
  }
}

/** Delays every flush of a running process until it is disposed of. @param delayMs time added to each flush */
export async function slowDisk(pid: number, delayMs: number): Promise<AsyncDisposable> {
  const flushes = 'fsync,fdatasync'
  const delay = `inject=${flushes}:delay_enter=${delayMs * 1000}`
  const tracer = spawn('strace', ['-f', '-e', `trace=${flushes}`, '-e', delay, '-o', '/dev/null', '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const gone = new Promise((resolve) => tracer.once('exit', resolve))
  await new Promise<void>((resolve, reject) => {
    let said = ''
    tracer.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (said.includes('attached')) resolve()
    })
    void gone.then(() => reject(new Error(`strace ended: ${said}`)))
  })
  return {
    async [Symbol.asyncDispose]() {
      tracer.kill('SIGINT')
      await gone
    },
  }
}
