import type { ObjectReader } from '@krmkit/admission'
import type { ResourceDefinition } from '@krmkit/kinds'
import type { Entry } from '@krmkit/storage'
import type { Environment } from './interfaces.ts'
import { collectionPrefix, objectKey } from './keys.ts'
import { OwnedKinds } from './ownership.ts'
import { ParsedObjects } from './stored-object.ts'
import type { Writer } from './write.ts'

/** Everything the verbs need, over one set of served resources. */
export interface Registry extends Writer {
  readonly definitions: readonly ResourceDefinition[]
  /** A served resource. */
  resource(gvr: { group: string; version: string; resource: string }): ResourceDefinition | undefined
}

export function createRegistry(environment: Environment, definitions: readonly ResourceDefinition[]): Registry {
  const parsed = new ParsedObjects()
  const byName = new Map(definitions.map((each) => [`${each.group}/${each.version}/${each.resource.name}`, each]))
  const storedByName = new Map<string, ResourceDefinition>()
  for (const each of definitions) {
    const key = `${each.group}/${each.resource.name}`
    const { group, version } = each.storage
    const isStored = group === each.group && version === each.version
    if (isStored || !storedByName.has(key)) storedByName.set(key, each)
  }
  const stored = (group: string, resource: string) => storedByName.get(`${group}/${resource}`)
  return {
    environment,
    definitions,
    parsed,
    owned: new OwnedKinds(definitions),
    reader: createReader(environment, parsed, stored),
    resource: ({ group, version, resource }) => byName.get(`${group}/${version}/${resource}`),
    stored,
  }
}

function createReader(environment: Environment, parsed: ParsedObjects, stored: Registry['stored']): ObjectReader {
  const { storage } = environment
  return {
    get({ group, resource }, namespace, name) {
      const definition = stored(group, resource)
      const entry = definition === undefined ? undefined : storage.peek(objectKey(definition, namespace, name))
      return entry === undefined ? undefined : parsed.objectOf(entry)
    },
    async list({ group, resource }, namespace) {
      const definition = stored(group, resource)
      if (definition === undefined) return []
      const { entries } = await storage.list({ prefix: collectionPrefix(definition, namespace ?? '') })
      return entries.map((entry: Entry) => parsed.objectOf(entry))
    },
  }
}
