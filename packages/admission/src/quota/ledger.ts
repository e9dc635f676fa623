import { ApiError, type ApiObject, type DeepReadonly } from '@krmkit/meta'
import type { AdmissionContext, ObjectReader, ObjectWriter, Settle } from '../interfaces.ts'
import { type Charge, type WeighedQuota, weighed } from './check.ts'
import type { ResourceQuota } from './interfaces.ts'
import { formatUsage, minus, parseUsage, plus, type Usage } from './usage.ts'

/**
 * Charges requests to the quotas of their namespace, so that no two of them are given the same room.
 *
 *     waiting --weighed against what is used--> refused | free of charge | charged --stored--> over
 *                                                                              \--failed--> given back
 *
 * Requests that wait together are charged by one write to each quota. A quota that somebody else changed meanwhile is read again,
 * and all of them are weighed anew.
 */
export class QuotaLedger {
  readonly #namespaces = new Map<string, Waiting[]>()
  readonly #open = new Map<string, OpenCharges>()

  /** @throws ApiError 403 when the request does not fit, 409 when the quotas do not come to rest. */
  charge(namespace: string, weigh: Weigh, context: Pick<AdmissionContext, 'reader' | 'writer'>): Promise<Settle | undefined> {
    return new Promise((resolve, reject) => {
      const waiting = { weigh, context, resolve, reject }
      const queue = this.#namespaces.get(namespace)
      if (queue !== undefined) {
        queue.push(waiting)
        return
      }
      this.#namespaces.set(namespace, [waiting])
      void this.#work(namespace)
    })
  }

  /**
   * Whether what somebody counted can be too low: objects that are charged already may have been stored after the count began.
   * Answers so once for each of them, so that who counts again is believed.
   */
  isUnsettled({ metadata }: DeepReadonly<ApiObject>): boolean {
    const key = metadata.uid ?? ''
    const open = this.#open.get(key)
    if (open === undefined) return false
    open.storedSince = false
    if (open.inFlight === 0) this.#open.delete(key)
    return true
  }

  async #work(namespace: string): Promise<void> {
    for (let batch = this.#take(namespace); batch.length > 0; batch = this.#take(namespace)) {
      try {
        await this.#charge(namespace, batch)
      } catch (error) {
        // Nobody waits for ever, whatever failed.
        for (const { reject } of batch) reject(error)
      }
    }
    this.#namespaces.delete(namespace)
  }

  #take(namespace: string): readonly Waiting[] {
    return this.#namespaces.get(namespace)?.splice(0) ?? []
  }

  async #charge(namespace: string, batch: readonly Waiting[]): Promise<void> {
    let remaining = batch
    for (let attempt = 0; remaining.length > 0 && attempt < attempts; attempt++) {
      remaining = await this.#attempt(namespace, remaining)
    }
    for (const { reject } of remaining) {
      reject(ApiError.conflict(quotas, namespace, 'quotas of the namespace change too fast; please try again'))
    }
  }

  /** @returns those whose quotas were changed by somebody else meanwhile. */
  async #attempt(namespace: string, batch: readonly Waiting[]): Promise<readonly Waiting[]> {
    const { reader, writer } = (batch[0] as Waiting).context
    let all: WeighedQuota[]
    try {
      all = await quotasOf(reader, namespace)
    } catch (error) {
      for (const { reject } of batch) reject(error)
      return []
    }
    const accepted: { readonly waiting: Waiting; readonly charges: readonly Charge[] }[] = []
    for (const waiting of batch) {
      try {
        const charges = waiting.weigh(all)
        for (const { to, cost } of charges) to.used = plus(to.used, cost)
        if (charges.length === 0) waiting.resolve(undefined)
        else accepted.push({ waiting, charges })
      } catch (error) {
        waiting.reject(error)
      }
    }
    if (accepted.length === 0) return []
    const totals = new Map<WeighedQuota, Usage>()
    for (const { charges } of accepted) {
      for (const { to, cost } of charges) totals.set(to, plus(totals.get(to) ?? new Map(), cost))
    }
    for (const { charges } of accepted) for (const { to } of charges) this.#opened(to)
    const outcome = await writeAll(totals, namespace, writer)
    if (outcome !== 'written') {
      for (const { charges } of accepted) for (const { to } of charges) this.#closed(to, false)
      if (outcome === 'stale') return accepted.map(({ waiting }) => waiting)
      for (const { waiting } of accepted) waiting.reject(outcome.error)
      return []
    }
    for (const { waiting, charges } of accepted) {
      waiting.resolve((written) => this.#settle(charges, { written, namespace, writer }))
    }
    return []
  }

  async #settle(
    charges: readonly Charge[],
    { written, namespace, writer }: { written: boolean; namespace: string; writer: ObjectWriter | undefined },
  ): Promise<void> {
    if (!written) for (const { to, cost } of charges) await giveBack(to, cost, { namespace, writer })
    for (const { to } of charges) this.#closed(to, written)
  }

  #opened({ quota }: WeighedQuota): void {
    const key = quota.metadata.uid ?? ''
    const open = this.#open.get(key)
    if (open === undefined) {
      this.#open.set(key, { inFlight: 1, storedSince: false })
      this.#forgetSome()
    } else open.inFlight++
  }

  /** Quotas that are gone, or that nobody counts, are not kept for ever. */
  #forgetSome(): void {
    if (this.#open.size <= maxOpen) return
    for (const [key, { inFlight }] of this.#open) {
      if (inFlight === 0) this.#open.delete(key)
      if (this.#open.size <= maxOpen / 2) return
    }
  }

  #closed({ quota }: WeighedQuota, stored: boolean): void {
    const key = quota.metadata.uid ?? ''
    const open = this.#open.get(key)
    if (open === undefined) {
      if (stored) this.#open.set(key, { inFlight: 0, storedSince: true })
      return
    }
    open.inFlight--
    open.storedSince ||= stored
    if (open.inFlight <= 0 && !open.storedSince) this.#open.delete(key)
  }
}

/** What a request costs each quota. @throws ApiError when it does not fit */
export type Weigh = (quotas: readonly WeighedQuota[]) => readonly Charge[]

interface Waiting {
  readonly weigh: Weigh
  readonly context: Pick<AdmissionContext, 'reader' | 'writer'>
  readonly resolve: (settle: Settle | undefined) => void
  readonly reject: (error: unknown) => void
}

interface OpenCharges {
  /** Charged, and not known to be stored. */
  inFlight: number
  /** Some were stored since somebody counted. */
  storedSince: boolean
}

const attempts = 16
const maxOpen = 16_384
const quotas = { group: '', resource: 'resourcequotas' }

export async function quotasOf(reader: ObjectReader, namespace: string): Promise<WeighedQuota[]> {
  return ((await reader.list(quotas, namespace)) as readonly DeepReadonly<ResourceQuota>[]).map(weighed)
}

class StaleQuota extends Error {}

type Outcome = 'written' | 'stale' | { readonly error: unknown }

/** All of them or none: those written before one that is stale are given back. */
async function writeAll(
  totals: ReadonlyMap<WeighedQuota, Usage>,
  namespace: string,
  writer: ObjectWriter | undefined,
): Promise<Outcome> {
  if (writer === undefined) return 'written'
  const done: [WeighedQuota, Usage][] = []
  try {
    for (const [weighed, cost] of totals) {
      const { resourceVersion, name = '' } = weighed.quota.metadata
      await writer.update({ ...quotas, namespace, name, subresource: 'status' }, (current) => {
        if (current.metadata.resourceVersion !== resourceVersion) throw new StaleQuota()
        return withUsed(current, weighed.used)
      })
      done.push([weighed, cost])
    }
    return 'written'
  } catch (error) {
    for (const [weighed, cost] of done) await giveBack(weighed, cost, { namespace, writer })
    if (error instanceof StaleQuota || (ApiError.is(error) && error.reason === 'NotFound')) return 'stale'
    return { error }
  }
}

async function giveBack(
  { quota }: WeighedQuota,
  cost: Usage,
  { namespace, writer }: { readonly namespace: string; readonly writer: ObjectWriter | undefined },
): Promise<void> {
  const { name = '', uid } = quota.metadata
  try {
    await writer?.update({ ...quotas, namespace, name, subresource: 'status' }, (current) => {
      if (current.metadata.uid !== uid) throw new StaleQuota()
      const used = parseUsage((current as DeepReadonly<ResourceQuota>).status?.used)
      const known = new Map([...cost].filter(([resource]) => used.has(resource)))
      return withUsed(current, minus(used, known))
    })
  } catch (error) {
    // A quota that is gone has nothing to be given back; what cannot be written now is counted by the controller later.
    if (!(error instanceof StaleQuota || ApiError.is(error))) throw error
  }
}

function withUsed(current: DeepReadonly<ApiObject>, used: Usage): ApiObject {
  const quota = structuredClone(current) as ResourceQuota
  quota.status = { ...quota.status, used: formatUsage(used) }
  return quota
}
