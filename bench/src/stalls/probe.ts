/**
 * Measures how long the main thread is held while a request runs. Every 2 ms a GET of an object is due; it waits as long as the thread
 * is held. Of elapsed time and processor time the shorter counts, so that other load on the machine does not.
 */
import { readFileSync } from 'node:fs'
import type { Caller } from '../e2e/caller.ts'

const tickMs = 2

export interface Stall {
  readonly longestMs: number
  /** 99th percentile of the waits of the GETs. */
  readonly p99Ms: number
  /** Processor time of the main thread. */
  readonly cpuMs: number
}

/** Runs `work` with a GET of `path` every 2 ms beside it. */
export async function stallOf(call: Caller, path: string, work: () => Promise<unknown>): Promise<Stall> {
  const waits: number[] = []
  let isRunning = true
  const beside = (async () => {
    while (isRunning) {
      const [wall, cpu] = [performance.now(), threadCpuMs()]
      await new Promise((resolve) => setTimeout(resolve, tickMs))
      await call({ method: 'GET', path })
      waits.push(Math.max(0, Math.min(performance.now() - wall - tickMs, threadCpuMs() - cpu)))
    }
  })()
  const before = threadCpuMs()
  await new Promise((resolve) => setTimeout(resolve, 4 * tickMs))
  await work()
  const cpuMs = threadCpuMs() - before
  await new Promise((resolve) => setTimeout(resolve, 4 * tickMs))
  isRunning = false
  await beside
  waits.sort((a, b) => a - b)
  return { longestMs: waits.at(-1) ?? 0, p99Ms: waits[Math.floor(waits.length * 0.99)] ?? 0, cpuMs }
}

/** Processor time of the main thread; of all threads where the system does not say. */
export function threadCpuMs(): number {
  if (process.platform !== 'linux') {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6
}
