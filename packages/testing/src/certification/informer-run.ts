import type { CachedObject, InformerAdapter, InformerEvent, InformerStart, RunningInformer } from './interfaces.ts'
import { namespace, type Stage, versionOf } from './stage.ts'
import { eventually, NotApplicable, pause, require } from './violation.ts'

export interface InformerRunOptions {
  readonly adapter: InformerAdapter
  readonly stage: Stage
  readonly patienceMs: number
}

/** Number of requests within `hotLoopMs` above which the client does not back off. */
const hotLoopRequests = 15
const hotLoopMs = 4000

/** An informer under test, with the invariants that must hold at all times. */
export class InformerRun {
  readonly stage: Stage
  readonly patienceMs: number
  readonly #adapter: InformerAdapter
  #informer: RunningInformer | undefined
  #labelSelector: string | undefined
  /** The newest observed version of each object, by uid. */
  readonly #newest = new Map<string, bigint>()
  /** Uids of objects that were removed from the cache. */
  readonly #gone = new Set<string>()
  readonly #seen = new Map<string, CachedObject>()
  #present = new Set<string>()

  constructor({ adapter, stage, patienceMs }: InformerRunOptions) {
    this.#adapter = adapter
    this.stage = stage
    this.patienceMs = patienceMs
  }

  get features(): NonNullable<InformerAdapter['features']> {
    return this.#adapter.features ?? {}
  }

  /** Starts the informer without waiting for its first list. */
  async start(options: Omit<InformerStart, 'server' | 'namespace'> = {}): Promise<void> {
    this.#labelSelector = options.labelSelector
    this.#informer = await this.#adapter.start({ server: this.stage.server, namespace, ...options })
  }

  /** Starts the informer and waits until it has the objects of the server, and a watch. */
  async startAndSync(options: Omit<InformerStart, 'server' | 'namespace'> = {}): Promise<void> {
    await this.start(options)
    await this.converged('after the start')
    await this.watching()
  }

  async hasSynced(): Promise<boolean> {
    return this.#informer!.hasSynced()
  }

  /** Waits for an open watch. */
  async watching(): Promise<void> {
    const isOpen = await eventually(() => this.stage.front.openWatches > 0, this.patienceMs)
    require(isOpen, () => `no watch was opened within ${this.patienceMs / 1000} s`)
  }

  /** Waits until the cache equals the objects of the server. */
  async converged(when: string, patienceMs = this.patienceMs): Promise<void> {
    let wanted: string[] = []
    let found: string[] = []
    const isSame = async () => {
      wanted = (await this.stage.objects(this.#labelSelector)).map(versionedName).sort()
      found = (await this.sample()).map(versionedName).sort()
      return JSON.stringify(found) === JSON.stringify(wanted)
    }
    const hasAll = await eventually(isSame, patienceMs)
    require(hasAll, () => `${when} the cache differs from the server for ${patienceMs / 1000} s: ${differenceOf(found, wanted)}`)
  }

  /** Reads the cache. @throws Violation when an object reverts to an older version or reappears after its deletion */
  async sample(): Promise<readonly CachedObject[]> {
    const objects = await this.#informer!.objects()
    const present = new Set<string>()
    for (const object of objects) {
      const { name, uid = '', resourceVersion = '0' } = object.metadata
      present.add(uid)
      this.#seen.set(versionOf(object), object)
      const version = BigInt(resourceVersion)
      const newest = this.#newest.get(uid)
      require(newest === undefined || newest <= version, () => `${name} went back from version ${newest} to ${version}`)
      require(!this.#gone.has(uid), () => `${name} appeared again after its deletion`)
      this.#newest.set(uid, version)
    }
    for (const uid of this.#present) if (!present.has(uid)) this.#gone.add(uid)
    this.#present = present
    return objects
  }

  /** Reads the cache repeatedly for some time. @throws Violation, like `sample` */
  async observe(ms: number): Promise<void> {
    const endMs = performance.now() + ms
    while (performance.now() < endMs) {
      await this.sample()
      await pause(25)
    }
  }

  /** Returns the handler calls; undefined if the adapter does not record them. */
  async events(): Promise<readonly InformerEvent[] | undefined> {
    return this.#informer!.events?.()
  }

  /** Requires that the client backs off while all its attempts fail. */
  async backsOff(): Promise<void> {
    const { requests } = this.stage.front
    const from = requests.length
    await pause(hotLoopMs)
    const sent = requests.length - from
    require(sent <= hotLoopRequests, () => `${sent} requests within ${hotLoopMs / 1000} s while all of them failed`)
  }

  /** Waits until a condition holds. @throws Violation */
  async until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
    require(await eventually(condition, this.patienceMs), () => `${what}: not within ${this.patienceMs / 1000} s`)
  }

  /**
   * The final checks of every scenario: the cache equals the server, all observed versions existed, and handler calls are in
   * a valid order.
   */
  async finish(): Promise<void> {
    await this.converged('at the end')
    for (const [version, { metadata }] of this.#seen) {
      require(this.stage.stored.has(version), () => `the cache had ${metadata.name} at ${version}, which was never stored`)
    }
    // Handlers may be called after the cache has changed.
    let difference: string | undefined = ''
    const fits = async () => {
      difference = await this.#checkEvents()
      return difference === undefined
    }
    const hasFit = await eventually(fits, this.patienceMs / 4)
    require(hasFit, () => `the calls of the handlers lead to another state than the cache: ${difference}`)
  }

  async stop(): Promise<void> {
    await this.#informer?.stop()
  }

  /** Returns the difference between handler calls and the cache. @throws Violation for handler calls in a wrong order */
  async #checkEvents(): Promise<string | undefined> {
    const events = await this.events()
    if (events === undefined) return undefined
    const known = new Map<string, CachedObject>()
    for (const { type, object } of events) {
      const { name = '', uid } = object.metadata
      const before = known.get(name)
      if (type === 'added') require(before?.metadata.uid !== uid, () => `added was called twice for ${name}`)
      else require(before !== undefined, () => `${type} was called for ${name}, which was not added`)
      if (type === 'deleted') known.delete(name)
      else known.set(name, object)
    }
    const led = [...known.values()].map(versionedName).sort()
    const cached = (await this.sample()).map(versionedName).sort()
    return JSON.stringify(led) === JSON.stringify(cached) ? undefined : differenceOf(led, cached)
  }
}

/** @throws NotApplicable unless the informer lists in chunks */
export function requireChunks({ front }: Stage): void {
  const isChunked = front.of('list').some(({ parameters }) => parameters.has('continue'))
  if (!isChunked) throw new NotApplicable('the informer lists without a limit, in one request')
}

function versionedName({ metadata }: CachedObject): string {
  return `${metadata.name} ${metadata.uid}@${metadata.resourceVersion}`
}

function differenceOf(found: readonly string[], wanted: readonly string[]): string {
  const short = (list: readonly string[]) =>
    list
      .map((each) => each.replace(/ .*@/, '@'))
      .slice(0, 5)
      .join(', ') || 'nothing'
  const missing = wanted.filter((each) => !found.includes(each))
  const surplus = found.filter((each) => !wanted.includes(each))
  return `missing ${short(missing)}; surplus ${short(surplus)}`
}
