import type { ChildProcess } from 'node:child_process'
import type { RandomChoices } from '@krmkit/base/random-choices'
import type { BreakingProxy } from './breaking-proxy.ts'
import type { LocalServer } from './local-server.ts'

/**
 * Breaks connections and compacts history while a program writes, until it prints `written`.
 *
 * @returns a function that returns the number of compactions.
 */
export function makeTrouble(
  child: ChildProcess,
  options: {
    readonly local: LocalServer
    readonly proxy: BreakingProxy
    readonly random: RandomChoices
    readonly everyMs: number
  },
): { readonly compactions: number } {
  const { local, proxy, random, everyMs } = options
  const counts = { compactions: 0 }
  let output = ''
  const timer = setInterval(() => {
    proxy.breakAll()
    if (random.chance(40)) return
    counts.compactions++
    // Writes happen between the break and this, so disconnected clients have missed events.
    setTimeout(() => void local.storage.compact(local.storage.revision).catch(() => undefined), 15)
  }, everyMs)
  child.stdout?.on('data', (piece: string) => {
    output = (output + piece).slice(-64 * 1024)
    if (/^written$/m.test(output)) clearInterval(timer)
  })
  child.on('close', () => clearInterval(timer))
  return counts
}
