import { readFileSync } from 'node:fs'
import type { FieldFacts, GroupFacts, NodeFacts, TypeFacts } from '../src/model/facts.ts'
import { createTypeSource, type FactsSource } from '../src/model/type-source.ts'

/** Types for tests of OpenAPI documents: `core` and `meta` of `model/`, plus discovery types and PodList. */
export function discoveryTypes(): FactsSource {
  const core = withTypes('core', { PodList: list('core/v1.Pod') })
  const meta = withTypes('meta', {
    Patch: { fields: [] },
    APIVersions: { root: true, fields: [typeMeta, member('versions', { list: { scalar: 'string' } }), addresses] },
    APIGroupList: { root: true, fields: [typeMeta, member('groups', { list: { ref: 'meta/v1.APIGroup' } })] },
    APIGroup: {
      root: true,
      fields: [
        typeMeta,
        member('name', { scalar: 'string' }),
        member('versions', { list: { ref: 'meta/v1.GroupVersionForDiscovery' } }),
        addresses,
      ],
    },
    GroupVersionForDiscovery: { fields: [member('groupVersion', { scalar: 'string' }), member('version', { scalar: 'string' })] },
    ServerAddressByClientCIDR: { fields: [member('clientCIDR', { scalar: 'string' }), member('serverAddress', { scalar: 'string' })] },
  })
  const admission = { group: 'admission.k8s.io', versions: { v1: { kinds: {}, resources: {}, types: {} } } }
  return createTypeSource({ core, meta, admission: JSON.stringify(admission) })
}

function withTypes(folder: string, types: Readonly<Record<string, TypeFacts>>): string {
  const facts = JSON.parse(readFileSync(new URL(`./model/${folder}.json`, import.meta.url), 'utf8')) as GroupFacts
  Object.assign(facts.versions.v1!.types, types)
  return JSON.stringify(facts)
}

function member(json: string, type: NodeFacts): FieldFacts {
  return { json, go: json, type }
}

const typeMeta: FieldFacts = { json: '', go: 'TypeMeta', type: { ref: 'meta/v1.TypeMeta' }, inline: true }
const addresses = member('serverAddressByClientCIDRs', { list: { ref: 'meta/v1.ServerAddressByClientCIDR' } })

function list(of: string): TypeFacts {
  const metadata: FieldFacts = { ...member('metadata', { ref: 'meta/v1.ListMeta' }), optional: true, omitempty: true, zero: {} }
  return { root: true, fields: [typeMeta, metadata, member('items', { list: { ref: of } })] }
}
