import { ApiError, type ApiObject, type DeepReadonly } from '@krmkit/meta'
import type { AdmissionContext, ObjectReader, ObjectWriter, Reservation } from '../interfaces.ts'
import { type Charge, type QuotaState, quotaState } from './check.ts'
import type { ResourceQuota } from './interfaces.ts'
import { addUsage, formatUsage, parseUsage, subtractUsage, type Usage } from './usage.ts'

/**
 * Charges requests to the quotas of their namespace atomically: concurrent requests never exceed a quota together.
 *
 *     pending --computed against the used amounts--> refused | free of charge | charged --commit--> done
 *                                                                                  \--rollback--> refunded
 *
 * Pending requests of a namespace are charged in batches, with one write per quota. When a quota was changed by another writer,
 * the quotas are read again and the whole batch is computed again.
 */
export class QuotaLedger {
  readonly #namespaces = new Map<string, PendingCharge[]>()
  readonly #openCharges = new Map<string, OpenCharges>()

  /**
   * @returns the reservation of the charges; undefined when the request is free of charge.
   * @throws ApiError 403 when the request exceeds a quota, 409 when the quotas keep changing.
   */
  charge(
    namespace: string,
    compute: ComputeCharges,
    context: Pick<AdmissionContext, 'reader' | 'writer'>,
  ): Promise<Reservation | undefined> {
    return new Promise((resolve, reject) => {
      const pending = { compute, context, resolve, reject }
      const queue = this.#namespaces.get(namespace)
      if (queue !== undefined) {
        queue.push(pending)
        return
      }
      this.#namespaces.set(namespace, [pending])
      void this.#drain(namespace)
    })
  }

  /**
   * Whether a recount of the quota may be too low, because charged objects may have been stored after the count began. Committed
   * charges are reported once, so that a second count is accepted.
   */
  mayUndercount({ metadata }: DeepReadonly<ApiObject>): boolean {
    const key = metadata.uid ?? ''
    const open = this.#openCharges.get(key)
    if (open === undefined) return false
    open.storedSince = false
    if (open.inFlight === 0) this.#openCharges.delete(key)
    return true
  }

  async #drain(namespace: string): Promise<void> {
    for (let batch = this.#takeBatch(namespace); batch.length > 0; batch = this.#takeBatch(namespace)) {
      try {
        await this.#chargeBatch(namespace, batch)
      } catch (error) {
        // Every pending promise must settle.
        for (const { reject } of batch) reject(error)
      }
    }
    this.#namespaces.delete(namespace)
  }

  #takeBatch(namespace: string): readonly PendingCharge[] {
    return this.#namespaces.get(namespace)?.splice(0) ?? []
  }

  async #chargeBatch(namespace: string, batch: readonly PendingCharge[]): Promise<void> {
    let remaining = batch
    for (let attempt = 0; remaining.length > 0 && attempt < attempts; attempt++) {
      remaining = await this.#attempt(namespace, remaining)
    }
    for (const { reject } of remaining) {
      reject(ApiError.conflict(quotas, namespace, 'quotas of the namespace change too fast; please try again'))
    }
  }

  /** @returns the requests to retry because another writer changed a quota. */
  async #attempt(namespace: string, batch: readonly PendingCharge[]): Promise<readonly PendingCharge[]> {
    const { reader, writer } = (batch[0] as PendingCharge).context
    let all: readonly QuotaState[]
    try {
      all = await readQuotas(reader, namespace)
    } catch (error) {
      for (const { reject } of batch) reject(error)
      return []
    }
    const accepted: { readonly pending: PendingCharge; readonly charges: readonly Charge[] }[] = []
    for (const pending of batch) {
      try {
        const charges = pending.compute(all)
        for (const { to, cost } of charges) to.used = addUsage(to.used, cost)
        if (charges.length === 0) pending.resolve(undefined)
        else accepted.push({ pending, charges })
      } catch (error) {
        pending.reject(error)
      }
    }
    if (accepted.length === 0) return []
    const totals = new Map<QuotaState, Usage>()
    for (const { charges } of accepted) {
      for (const { to, cost } of charges) totals.set(to, addUsage(totals.get(to) ?? new Map(), cost))
    }
    for (const { charges } of accepted) for (const { to } of charges) this.#open(to)
    const outcome = await writeAll(totals, namespace, writer)
    if (outcome !== 'written') {
      for (const { charges } of accepted) for (const { to } of charges) this.#close(to, { stored: false })
      if (outcome === 'stale') return accepted.map(({ pending }) => pending)
      for (const { pending } of accepted) pending.reject(outcome.error)
      return []
    }
    for (const { pending, charges } of accepted) {
      pending.resolve({
        commit: () => this.#commit(charges),
        rollback: () => this.#rollback(charges, { namespace, writer }),
      })
    }
    return []
  }

  #commit(charges: readonly Charge[]): void {
    for (const { to } of charges) this.#close(to, { stored: true })
  }

  async #rollback(
    charges: readonly Charge[],
    { namespace, writer }: { readonly namespace: string; readonly writer: ObjectWriter | undefined },
  ): Promise<void> {
    for (const { to, cost } of charges) await refund(to, cost, { namespace, writer })
    for (const { to } of charges) this.#close(to, { stored: false })
  }

  #open({ quota }: QuotaState): void {
    const key = quota.metadata.uid ?? ''
    const open = this.#openCharges.get(key)
    if (open === undefined) {
      this.#openCharges.set(key, { inFlight: 1, storedSince: false })
      this.#evict()
    } else open.inFlight++
  }

  /** Evicts quotas without charges in flight, such as deleted ones. */
  #evict(): void {
    if (this.#openCharges.size <= maxOpenCharges) return
    for (const [key, { inFlight }] of this.#openCharges) {
      if (inFlight === 0) this.#openCharges.delete(key)
      if (this.#openCharges.size <= maxOpenCharges / 2) return
    }
  }

  #close({ quota }: QuotaState, { stored }: { readonly stored: boolean }): void {
    const key = quota.metadata.uid ?? ''
    const open = this.#openCharges.get(key)
    if (open === undefined) {
      if (stored) this.#openCharges.set(key, { inFlight: 0, storedSince: true })
      return
    }
    open.inFlight--
    open.storedSince ||= stored
    if (open.inFlight <= 0 && !open.storedSince) this.#openCharges.delete(key)
  }
}

/** Computes the charges of a request to each quota. @throws ApiError when it exceeds one. */
export type ComputeCharges = (quotas: readonly QuotaState[]) => readonly Charge[]

interface PendingCharge {
  readonly compute: ComputeCharges
  readonly context: Pick<AdmissionContext, 'reader' | 'writer'>
  readonly resolve: (reservation: Reservation | undefined) => void
  readonly reject: (error: unknown) => void
}

interface OpenCharges {
  /** Charges that are neither committed nor rolled back. */
  inFlight: number
  /** Whether a charge was committed since the last count. */
  storedSince: boolean
}

const attempts = 16
const maxOpenCharges = 16_384
const quotas = { group: '', resource: 'resourcequotas' }

/** The quotas of a namespace with their usage; asynchronous until all quotas are cached. */
export function readQuotas(reader: ObjectReader, namespace: string): readonly QuotaState[] | Promise<readonly QuotaState[]> {
  const cached = reader.listNow?.(quotas, namespace)
  return cached === undefined ? reader.list(quotas, namespace).then(statesOf) : statesOf(cached)
}

const noQuotas: readonly QuotaState[] = []

function statesOf(objects: readonly DeepReadonly<ApiObject>[]): readonly QuotaState[] {
  return objects.length === 0 ? noQuotas : (objects as readonly DeepReadonly<ResourceQuota>[]).map(quotaState)
}

class StaleQuota extends Error {}

type Outcome = 'written' | 'stale' | { readonly error: unknown }

/** Writes the used amounts of all quotas or of none: quotas already written are refunded when a later one is stale. */
async function writeAll(
  totals: ReadonlyMap<QuotaState, Usage>,
  namespace: string,
  writer: ObjectWriter | undefined,
): Promise<Outcome> {
  if (writer === undefined) return 'written'
  const done: [QuotaState, Usage][] = []
  try {
    for (const [state, cost] of totals) {
      const { resourceVersion, name = '' } = state.quota.metadata
      await writer.update({ ...quotas, namespace, name, subresource: 'status' }, (current) => {
        if (current.metadata.resourceVersion !== resourceVersion) throw new StaleQuota()
        return withUsed(current, state.used)
      })
      done.push([state, cost])
    }
    return 'written'
  } catch (error) {
    for (const [state, cost] of done) await refund(state, cost, { namespace, writer })
    if (error instanceof StaleQuota || (ApiError.is(error) && error.reason === 'NotFound')) return 'stale'
    return { error }
  }
}

async function refund(
  { quota }: QuotaState,
  cost: Usage,
  { namespace, writer }: { readonly namespace: string; readonly writer: ObjectWriter | undefined },
): Promise<void> {
  const { name = '', uid } = quota.metadata
  try {
    await writer?.update({ ...quotas, namespace, name, subresource: 'status' }, (current) => {
      if (current.metadata.uid !== uid) throw new StaleQuota()
      const used = parseUsage((current as DeepReadonly<ResourceQuota>).status?.used)
      const known = new Map([...cost].filter(([resource]) => used.has(resource)))
      return withUsed(current, subtractUsage(used, known))
    })
  } catch (error) {
    // A deleted quota needs no refund; after a failed write the quota controller recounts.
    if (!(error instanceof StaleQuota || ApiError.is(error))) throw error
  }
}

function withUsed(current: DeepReadonly<ApiObject>, used: Usage): ApiObject {
  const quota = structuredClone(current) as ResourceQuota
  quota.status = { ...quota.status, used: formatUsage(used) }
  return quota
}
