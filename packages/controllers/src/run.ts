import { allowManyListeners } from '@krmkit/base/platform'
import { createFeatures, stockProfile, systemClock, systemRandom } from '@krmkit/meta'
import { checkOptions } from './arguments.ts'
import { builtInControllers } from './built-in.ts'
import { resolveAlias } from './controller-aliases.ts'
import { ControllersError } from './controllers-error.ts'
import { eventTurns, IdleTracker, yieldTurns } from './framework/idle-tracker.ts'
import { createMetadataClient } from './framework/metadata-client.ts'
import { Monitors } from './framework/monitors.ts'
import { createPacedClient } from './framework/paced-client.ts'
import { SharedInformers } from './framework/shared-informers.ts'
import { TurnBudget } from './framework/turn-budget.ts'
import { WorkQueue } from './framework/work-queue.ts'
import type { Controller, ControllerContext, ControllersOptions, QueueOptions, RunningControllers } from './interfaces.ts'

/**
 * Runs controllers against a server until it is closed.
 *
 * @throws ControllersError `UnknownController`, `InvalidOption`
 * @example
 * import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
 * import { runControllers } from '@krmkit/controllers'
 * const client = createRemoteClient(await loadKubeconfig())
 * await using running = runControllers({ client, controllers: ['*', '-disruption-controller'] })
 */
export function runControllers(options: ControllersOptions): RunningControllers {
  checkOptions(options)
  return startControllers(options)
}

function startControllers(options: ControllersOptions): RunningControllers {
  const { clock = systemClock, random = systemRandom, profile = stockProfile, onError = () => undefined } = options
  const { features = createFeatures(), fieldManager = 'kube-controller-manager', paced = true, onRun } = options
  const turnBudget = paced ? new TurnBudget() : new TurnBudget(Number.POSITIVE_INFINITY)
  const client = paced ? createPacedClient(options.client, turnBudget) : options.client
  const chosen = chooseControllers(options.available ?? builtInControllers, options.controllers ?? ['*'])
  const stopping = new AbortController()
  const { signal } = stopping
  // Every request in flight adds an abort listener, so the limit for leak warnings is lifted.
  allowManyListeners(signal)
  const idleTracker = new IdleTracker()
  const metadata = createMetadataClient(client, { clock, random, profile })
  const report = (error: unknown) => {
    if (!signal.aborted) onError(error)
  }
  const informers = new SharedInformers({
    client: options.client,
    metadata,
    clock,
    random,
    idleTracker,
    turnBudget,
    onError: report,
  })
  const queues: AsyncDisposable[] = []
  const queueOf = <K>(controller: string, queueOptions: QueueOptions<K>): WorkQueue<K> => {
    const created = new WorkQueue<K>({
      clock,
      ...queueOptions,
      idleTracker,
      turnBudget,
      onError: report,
      onRun: onRun === undefined ? undefined : (run) => onRun({ controller, ...run }),
    })
    queues.push(created)
    return created
  }
  const discoveryQueue = (sync: () => Promise<undefined>) => queueOf<'discover'>('discovery', { sync })
  const monitors = new Monitors({ client, informers, clock, profile, signal, queue: discoveryQueue })
  const context: Omit<ControllerContext, 'queue'> = {
    ...{ client, metadata, clock, random, profile, features, fieldManager },
    rootCA: options.rootCA,
    legacyToken: options.legacyToken,
    bootstrapSigningKey: options.bootstrapSigningKey ?? 'token-secret',
    rateLimit: options.rateLimit,
    signing: options.signing,
    signerRules: options.signerRules ?? {},
    metrics: options.metrics,
    heartbeats: options.heartbeats,
    signal,
    informers,
    monitors,
    onError: report,
  }
  const contextOf = (name: string): ControllerContext => ({ ...context, queue: (queueOptions) => queueOf(name, queueOptions) })
  const running = chosen.map((controller) => controller.start(contextOf(controller.name)))

  let closed: Promise<void> | undefined
  const close = (): Promise<void> => {
    closed ??= (async () => {
      stopping.abort(new ControllersError({ code: 'Closed', message: 'the controllers were stopped' }))
      await Promise.all(running.map((each) => each[Symbol.asyncDispose]()))
      // Queues and informers stop concurrently, because work may wait for the informer of a resource that is not served.
      await Promise.all([...queues, informers].map((each) => each[Symbol.asyncDispose]()))
      await metadata.close()
    })()
    return closed
  }
  return {
    names: chosen.map(({ name }) => name),
    settled: () => settled(idleTracker, { newestVersion: options.newestVersion ?? (() => fetchVersion(context)), signal }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/**
 * Resolves a list of names, in the order of `available`: an explicit name or its negation takes precedence over `*`, which
 * selects the controllers that are enabled by default. Aliases are accepted.
 *
 * @throws ControllersError `UnknownController`
 * @example
 * import { builtInControllers, chooseControllers } from '@krmkit/controllers'
 * const chosen = chooseControllers(builtInControllers, ['namespace-controller', 'garbagecollector'])
 * chosen.map(({ name }) => name) // [ 'namespace-controller', 'garbage-collector-controller' ]
 */
export function chooseControllers(available: readonly Controller[], requested: readonly string[]): readonly Controller[] {
  const names = requested.map(resolveAlias)
  for (const name of names) {
    const positive = name.startsWith('-') ? name.slice(1) : name
    if (name === '*' || available.some((controller) => controller.name === positive)) continue
    const known = available.map((controller) => controller.name).join(', ')
    throw new ControllersError({
      code: 'UnknownController',
      message: `unknown controller ${JSON.stringify(positive)}; available: ${known}`,
    })
  }
  return available.filter(({ name, isDefault = true }) => {
    if (names.includes(name)) return true
    return !names.includes(`-${name}`) && isDefault && names.includes('*')
  })
}

/** Resolves after two consecutive rounds without pending work, changes or writes. */
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

/** Returns the resource version of the store, from a list. */
async function fetchVersion({ metadata, signal }: Pick<ControllerContext, 'metadata' | 'signal'>): Promise<string> {
  const namespaces = { group: '', version: 'v1', resource: 'namespaces', kind: 'Namespace', namespaced: false }
  const { metadata: list } = await metadata.list(namespaces, { limit: 1, signal })
  return list.resourceVersion ?? ''
}
