import { setTimeout } from 'node:timers/promises'
import type { RandomChoices } from '@krmkit/meta/random-choices'
import type { Wire, WireClient } from './client.ts'
import type { Bounds, FamilyReport } from './report.ts'
import { historySeconds } from './server-process.ts'
import { faultOf, type Target } from './target.ts'

/** `short`: a sample for every test run; `full`: everything that the generators produce. */
export type Size = 'short' | 'full'

export interface AttackContext {
  readonly random: RandomChoices
  readonly report: FamilyReport
  readonly size: Size
  /** Texts, one of which the names of sent attacks contain. Default: all attacks are sent. */
  readonly only?: readonly string[]
}

/** Attacks of one kind, generated from a seed. */
export interface Family {
  readonly name: string
  readonly purpose: string
  /** Bounds that differ from those of single requests. */
  readonly bounds?: Partial<Bounds>
  run(context: AttackContext): Promise<void>
}

export interface WireAttack {
  readonly name: string
  readonly wire: Wire
}

/** How often an attack with a stall is sent again: other work of the machine and collections of garbage stall a server only now and then. */
const repetitions = 3

/**
 * Sends attacks sequentially and measures each. Every attack must get a proper response, whether it succeeds or not. A stall counts when
 * it comes back with each repetition; deletions, which find nothing the second time, are not repeated.
 */
export async function sendMeasured(target: Target, attacks: Iterable<WireAttack>, context: AttackContext): Promise<void> {
  const { report, only = [] } = context
  for (const { name, wire } of attacks) {
    if (only.length > 0 && !only.some((text) => name.includes(text))) continue
    const send = () => target.measured(() => target.admin().send(wire))
    const first = await send()
    const { result, peakMiB } = first
    let { stallMs, lost } = first
    for (let i = 0; i < repetitions && stallMs > report.stallBoundMs && !lost && wire.method !== 'DELETE'; i++) {
      const again = await send()
      stallMs = Math.min(stallMs, again.stallMs)
      lost = again.lost
    }
    const fault = lost ? `the server does not answer: ${result.text.slice(0, 120)}` : faultOf(result)
    report.add({
      name,
      outcome: result.status < 400 ? 'accepted' : 'refused',
      ...(fault === undefined ? {} : { reason: fault }),
      stallMs,
      peakMiB,
    })
  }
}

/** Ordinary writes, enough to replace whatever bounded caches keep of the attacks. */
async function replaceCached(admin: WireClient): Promise<void> {
  const collection = '/api/v1/namespaces/default/configmaps'
  for (let i = 0; i < 400; i++) {
    const body = JSON.stringify({ metadata: { name: `ordinary-${i}` } })
    await admin.send({ method: 'POST', target: collection, headers: { 'content-type': 'application/json' }, body })
    await admin.send({ method: 'DELETE', target: `${collection}/ordinary-${i}` })
  }
}

/**
 * Memory that is retained after the attacks of a family is a finding.
 *
 * @param restore puts what the attacks were allowed to store back to what was there before
 */
export async function watchingHeap(
  target: Target,
  context: AttackContext,
  attacks: () => Promise<void>,
  restore: (admin: WireClient) => Promise<void> = async () => {},
): Promise<void> {
  const allowedMiB = 24
  const { process } = target
  const { heapBytes: before } = await process().probe('collect')
  const { pid } = process()
  await attacks()
  // A restarted server has lost its caches.
  if (process().pid !== pid) return
  await restore(target.admin())
  await replaceCached(target.admin())
  await setTimeout((historySeconds + 3) * 1000)
  const { heapBytes: after } = await process().probe('collect')
  const grownMiB = (after - before) / 2 ** 20
  const kept = grownMiB > allowedMiB ? { reason: `${Math.round(grownMiB)} MiB stay after the attacks` } : {}
  context.report.add({ name: 'memory after all attacks', outcome: 'accepted', ...kept })
}
