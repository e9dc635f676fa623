import { setTimeout } from 'node:timers/promises'
import type { RandomChoices } from '@krmkit/base/random-choices'
import type { Wire, WireAnswer, WireClient } from './client.ts'
import type { Bounds, FamilyReport } from './report.ts'
import { historySeconds } from './server-process.ts'
import { faultOf, type Measured, type Target } from './target.ts'

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

/** Runs the attacks on a single process, and on a server whose connections workers serve. */
export async function threaded(run: (flags: readonly string[]) => Promise<void>): Promise<void> {
  await run([])
  await run(['--threads=2'])
}

/** Whether an attack is to be sent: encoding those that are not takes longer than sending the others. */
export function isChosen(name: string, { only = [] }: Pick<AttackContext, 'only'>): boolean {
  return only.length === 0 || only.some((text) => name.includes(text))
}

/** How often an attack with a stall is sent again: other work of the machine and collections of garbage stall a server only now and then. */
const repetitions = 3

/** A deletion finds nothing the second time, unless it is a dry run. */
function isRepeatable({ wire: { method, target } }: WireAttack): boolean {
  return method !== 'DELETE' || target.includes('dryRun=All')
}

interface SentAttack extends Measured<WireAnswer> {
  readonly attack: WireAttack
}

/**
 * Sends attacks sequentially and measures each. Every attack must get a proper response, whether it succeeds or not. A stall counts when
 * it comes back with each repetition, also after all other attacks: machines are slower for minutes at a time.
 */
export async function sendMeasured(target: Target, attacks: Iterable<WireAttack>, context: AttackContext): Promise<void> {
  const { report } = context
  const isSlow = ({ attack, stallMs, lost }: SentAttack) => stallMs > report.stallBoundMs && !lost && isRepeatable(attack)
  const send = async (attack: WireAttack): Promise<SentAttack> => ({
    attack,
    ...(await target.measured(() => target.admin().send(attack.wire))),
  })
  const repeat = async (first: SentAttack): Promise<SentAttack> => {
    let sent = first
    for (let i = 0; i < repetitions && isSlow(sent); i++) {
      const again = await send(sent.attack)
      sent = again.lost ? again : { ...sent, stallMs: Math.min(sent.stallMs, again.stallMs) }
    }
    return sent
  }
  const slow: SentAttack[] = []
  for (const attack of attacks) {
    if (!isChosen(attack.name, context)) continue
    const sent = await repeat(await send(attack))
    if (isSlow(sent)) slow.push(sent)
    else addTo(report, sent)
  }
  for (const sent of slow) addTo(report, await repeat(sent))
}

function addTo(report: FamilyReport, { attack, result, stallMs, peakMiB, lost }: SentAttack): void {
  const fault = lost ? `the server does not answer: ${result.text.slice(0, 120)}` : faultOf(result)
  report.add({
    name: attack.name,
    outcome: result.status < 400 ? 'accepted' : 'refused',
    ...(fault === undefined ? {} : { reason: fault }),
    stallMs,
    peakMiB,
  })
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
