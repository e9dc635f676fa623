import { setMaxListeners } from 'node:events'
import { stockProfile, systemClock, systemRandom } from '@krmkit/meta'
import { builtInControllers } from './built-in.ts'
import { resolveAlias } from './controller-aliases.ts'
import { ControllersError } from './controllers-error.ts'
import { eventTurns, IdleTracker, yieldTurns } from './framework/idle-tracker.ts'
import { createMetadataClient } from './framework/metadata-client.ts'
import { Monitors } from './framework/monitors.ts'
import { SharedInformers } from './framework/shared-informers.ts'
import { WorkQueue } from './framework/work-queue.ts'
import type { Controller, ControllerContext, ControllersOptions, QueueOptions, RunningControllers } from './interfaces.ts'

/**
 * Runs controllers against a server until disposed of.
 *
 * @throws ControllersError `UnknownController` for a name that none has.
 */
export function runControllers(options: ControllersOptions): RunningControllers {
  const { client, clock = systemClock, random = systemRandom, profile = stockProfile, onError = () => undefined } = options
  const chosen = chooseControllers(options.available ?? builtInControllers, options.controllers ?? ['*'])
  const ending = new AbortController()
  const { signal } = ending
  // Every call under way listens to it.
  setMaxListeners(0, signal)
  const idleTracker = new IdleTracker()
  const metadata = createMetadataClient(client, { clock, random, profile })
  const report = (error: unknown) => {
    if (!signal.aborted) onError(error)
  }
  const informers = new SharedInformers({ client, metadata, clock, random, idleTracker, onError: report })
  const queues: AsyncDisposable[] = []
  const queue = <K>(own: QueueOptions<K>): WorkQueue<K> => {
    const made = new WorkQueue<K>({ ...own, clock, idleTracker, onError: report })
    queues.push(made)
    return made
  }
  const discovering = (sync: () => Promise<undefined>) => queue<'discover'>({ sync })
  const monitors = new Monitors({ client, informers, clock, profile, signal, queue: discovering })
  const context: ControllerContext = {
    client,
    metadata,
    clock,
    random,
    profile,
    fieldManager: options.fieldManager ?? 'kube-controller-manager',
    rootCA: options.rootCA,
    legacyToken: options.legacyToken,
    bootstrapSigningKey: options.bootstrapSigningKey ?? 'token-secret',
    rateLimit: options.rateLimit,
    signing: options.signing,
    signal,
    informers,
    monitors,
    queue,
    onError: report,
  }
  const running = chosen.map((controller) => controller.start(context))

  let closed: Promise<void> | undefined
  const close = (): Promise<void> => {
    closed ??= (async () => {
      ending.abort(new ControllersError({ code: 'Closed', message: 'the controllers ended' }))
      await Promise.all(running.map((each) => each[Symbol.asyncDispose]()))
      await Promise.all(queues.map((each) => each[Symbol.asyncDispose]()))
      await informers[Symbol.asyncDispose]()
      await metadata.close()
    })()
    return closed
  }
  return {
    names: chosen.map(({ name }) => name),
    settled: () => settled(idleTracker, { newestVersion: options.newestVersion ?? (() => askVersion(context)), signal }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/**
 * Which controllers a list of names means, in the order of `available`: a name or its negation decides; else `*` means
 * those that are on by default. Names that controllers once had are understood, too.
 *
 * @throws ControllersError `UnknownController`
 */
export function chooseControllers(available: readonly Controller[], asked: readonly string[]): readonly Controller[] {
  const names = asked.map(resolveAlias)
  for (const name of names) {
    const bare = name.startsWith('-') ? name.slice(1) : name
    if (name === '*' || available.some((controller) => controller.name === bare)) continue
    const known = available.map((controller) => controller.name).join(', ')
    throw new ControllersError({
      code: 'UnknownController',
      message: `there is no controller ${JSON.stringify(bare)}, but ${known}`,
    })
  }
  return available.filter(({ name, isDefault = true }) => {
    if (names.includes(name)) return true
    return !names.includes(`-${name}`) && isDefault && names.includes('*')
  })
}

/** Twice in a row: all work done, nothing seen for some turns, and nothing written between. */
async function settled(
  idleTracker: IdleTracker,
  options: { readonly newestVersion: () => string | Promise<string>; readonly signal: AbortSignal },
): Promise<void> {
  let before: string | undefined
  while (!options.signal.aborted) {
    await idleTracker.idle()
    const changes = idleTracker.changes
    const version = await options.newestVersion()
    await yieldTurns(eventTurns)
    if (idleTracker.changes === changes && idleTracker.isIdle && version === before) return
    before = idleTracker.changes === changes ? version : undefined
  }
}

/** The version of the whole store: any list tells it. */
async function askVersion({ metadata, signal }: ControllerContext): Promise<string> {
  const namespaces = { group: '', version: 'v1', resource: 'namespaces', kind: 'Namespace', namespaced: false }
  const { metadata: list } = await metadata.list(namespaces, { limit: 1, signal })
  return list.resourceVersion ?? ''
}
