import { type AdmissionPlugin, createAdmissionChain } from '@krmkit/admission'
import { builtInTypes, createCatalog, type ResourceDefinition } from '@krmkit/kinds'
import {
  type ApiObject,
  createFeatures,
  type FakeClock,
  type Features,
  fakeClock,
  type Random,
  seededRandom,
  stockProfile,
} from '@krmkit/meta'
import { normalize } from '@krmkit/schema'
import { memoryStorage, type Storage } from '@krmkit/storage'
import type {
  DeleteRequestOptions,
  DeleteResult,
  RegistryEnvironment,
  Stored,
  StoredUpdate,
  UpdateResult,
  WriteContext,
  WriteGuard,
} from '../interfaces.ts'
import { createRegistry, type Registry } from '../registry.ts'
import type { ResourceStore } from '../store.ts'

/**
 * A registry for tests, over memory storage and with the built-in kinds. Each method names a resource; all requests are made by one
 * ordinary user.
 */
export interface SampleRegistry {
  readonly registry: Registry
  readonly environment: RegistryEnvironment
  readonly storage: Storage
  readonly clock: FakeClock
  readonly warnings: string[]
  context(rest?: Partial<WriteContext>): WriteContext
  definition(resource: string): ResourceDefinition
  store(resource: string): ResourceStore
  create(resource: string, object: Partial<ApiObject>, rest?: Partial<WriteContext>): Promise<Stored>
  update(
    resource: string,
    request: Omit<StoredUpdate, 'namespace' | 'subresource'> & Partial<StoredUpdate>,
  ): Promise<UpdateResult>
  remove(resource: string, name: string, options?: DeleteRequestOptions, rest?: Partial<WriteContext>): Promise<DeleteResult>
  /** The stored object; undefined when nothing is stored. */
  stored(resource: string, name: string): ApiObject | undefined
}

const catalog = createCatalog()
const types = builtInTypes()

export interface SampleOptions {
  readonly random?: Random
  readonly admission?: readonly AdmissionPlugin[]
  readonly storage?: Storage
  readonly guard?: WriteGuard
  readonly features?: Features
}

/** Objects of namespaced kinds live in namespace `ns`. */
export function sampleRegistry(options: SampleOptions = {}): SampleRegistry {
  const clock = fakeClock(Date.UTC(2024, 0, 1))
  const storage = options.storage ?? memoryStorage({ clock })
  const warnings: string[] = []
  const environment: RegistryEnvironment = {
    storage,
    types,
    admission: createAdmissionChain(options.admission ?? []),
    clock,
    random: options.random ?? seededRandom(1),
    profile: stockProfile,
    features: options.features ?? createFeatures(),
    guard: options.guard,
  }
  const registry = createRegistry(environment, catalog.definitions)
  const context = (rest: Partial<WriteContext> = {}): WriteContext => ({
    user: { username: 'jane', groups: [] },
    dryRun: false,
    fieldManager: 'test',
    signal: new AbortController().signal,
    warn: (text) => void warnings.push(text),
    ...rest,
  })
  const definition = (resource: string): ResourceDefinition => {
    const found = catalog.definitions.find((each) => each.resource.name === resource)
    if (found === undefined) throw new Error(`no resource ${resource}`)
    return found
  }
  const store = (resource: string): ResourceStore => registry.store(definition(resource))
  const namespaceOf = (resource: string): string => (definition(resource).kind.namespaced ? 'ns' : '')
  return {
    registry,
    environment,
    storage,
    clock,
    warnings,
    context,
    definition,
    store,
    create(resource, object, rest) {
      const { kind } = definition(resource)
      const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`
      const decoded = normalize(kind.type(), { apiVersion, kind: kind.kind, metadata: {}, ...structuredClone(object) })
      return store(resource).create(context(rest), { namespace: namespaceOf(resource), object: decoded as ApiObject })
    },
    update: (resource, request) =>
      store(resource).updateStored(context(), { namespace: namespaceOf(resource), subresource: '', ...request }),
    remove: (resource, name, given = {}, rest = {}) =>
      store(resource).delete(context(rest), { namespace: namespaceOf(resource), name, options: given }),
    stored: (resource, name) =>
      registry.reader.get({ group: definition(resource).group, resource }, namespaceOf(resource), name) as ApiObject | undefined,
  }
}
