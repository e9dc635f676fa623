import { type AdmissionPlugin, createAdmissionChain } from '@krmkit/admission'
import { builtInTypes, createCatalog, type ResourceDefinition } from '@krmkit/kinds'
import { type ApiObject, type FakeClock, fakeClock, fixedFeatures, type Random, seededRandom, stockProfile } from '@krmkit/meta'
import { applyDefaults, normalize } from '@krmkit/schema'
import { memoryStorage, type Storage } from '@krmkit/storage'
import type { DeleteOptions, DeleteResult, Stored, UpdateRequest, UpdateResult, WriteContext } from '../interfaces.ts'
import { createRegistry, type Registry } from '../registry.ts'
import { deleteObject } from '../removal.ts'
import { createObject, updateObject } from '../write.ts'

/** A registry over memory with the built-in kinds, as tests use it: one resource a call, everything by an ordinary user. */
export interface SampleRegistry {
  readonly registry: Registry
  readonly storage: Storage
  readonly clock: FakeClock
  readonly warnings: string[]
  context(rest?: Partial<WriteContext>): WriteContext
  definition(resource: string): ResourceDefinition
  create(resource: string, object: Partial<ApiObject>, rest?: Partial<WriteContext>): Promise<Stored>
  update(
    resource: string,
    request: Omit<UpdateRequest, 'namespace' | 'subresource'> & Partial<UpdateRequest>,
  ): Promise<UpdateResult>
  remove(resource: string, name: string, options?: DeleteOptions, rest?: Partial<WriteContext>): Promise<DeleteResult>
  /** What is stored now; undefined when nothing is. */
  stored(resource: string, name: string): ApiObject | undefined
}

const catalog = createCatalog()
const types = builtInTypes()

export interface SampleOptions {
  readonly random?: Random
  readonly admission?: readonly AdmissionPlugin[]
  readonly storage?: Storage
}

/** Objects of namespaced kinds live in namespace `ns`. */
export function sampleRegistry(options: SampleOptions = {}): SampleRegistry {
  const clock = fakeClock(Date.UTC(2024, 0, 1))
  const storage = options.storage ?? memoryStorage({ clock })
  const warnings: string[] = []
  const registry = createRegistry(
    {
      storage,
      types,
      admission: createAdmissionChain(options.admission ?? []),
      clock,
      random: options.random ?? seededRandom(1),
      profile: stockProfile,
      features: fixedFeatures(),
    },
    catalog.definitions,
  )
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
  const namespaceOf = (resource: string): string => (definition(resource).kind.namespaced ? 'ns' : '')
  return {
    registry,
    storage,
    clock,
    warnings,
    context,
    definition,
    create(resource, object, rest) {
      const { kind } = definition(resource)
      const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`
      const decoded = normalize(kind.type(), { apiVersion, kind: kind.kind, metadata: {}, ...object })
      const whole = structuredClone(applyDefaults(kind.type(), decoded))
      definition(resource).strategy.defaults?.(whole as ApiObject, kind.version, stockProfile)
      return createObject(registry, definition(resource), context(rest), {
        namespace: namespaceOf(resource),
        object: whole as ApiObject,
      })
    },
    update: (resource, request) =>
      updateObject(registry, definition(resource), context(), { namespace: namespaceOf(resource), subresource: '', ...request }),
    remove: (resource, name, given = {}, rest = {}) =>
      deleteObject(registry, definition(resource), context(rest), { namespace: namespaceOf(resource), name, options: given }),
    stored: (resource, name) =>
      registry.reader.get({ group: definition(resource).group, resource }, namespaceOf(resource), name) as ApiObject | undefined,
  }
}
