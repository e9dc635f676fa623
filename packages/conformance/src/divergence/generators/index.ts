import type { RandomChoices } from '@krmkit/base/random-choices'
import type { Scenario } from '../scenario.ts'
import { generateAccess } from './access.ts'
import { generateAdmission } from './admission.ts'
import { generateAggregation } from './aggregation.ts'
import { generateApplies } from './applies.ts'
import { generateBodies } from './bodies.ts'
import { generateCertificates } from './certificates.ts'
import { generateConversions } from './conversions.ts'
import { generateCustoms } from './customs.ts'
import { generateDefinitions } from './definitions.ts'
import { generateDocuments } from './documents.ts'
import { generateEmpties } from './empties.ts'
import { generateExpressions } from './expressions.ts'
import { generateFairness } from './fairness.ts'
import { generateGrants } from './grants.ts'
import { generateHeaders } from './headers.ts'
import { generateHttp } from './http.ts'
import { generateLives, generateNamespaces } from './life.ts'
import { generateNodes } from './nodes.ts'
import { generatePatches } from './patches.ts'
import { generateProtobuf } from './protobuf.ts'
import { generateQuotas } from './quotas.ts'
import { generateRaces } from './races.ts'
import { generateReads } from './reads.ts'
import { generateRecords } from './records.ts'
import { generateSubresources } from './subresources.ts'
import { generateTables } from './tables.ts'
import { generateTokens } from './tokens.ts'
import { generateVersions } from './versions.ts'
import { generateWatches } from './watches.ts'
import { generateUpdates } from './writes.ts'
import { generateNumbers, generateYaml } from './yaml.ts'

/** Makes random scenarios of one area. */
export interface Generator {
  readonly area: string
  /** What its scenarios compare, for the report. */
  readonly compares: string
  /** Scenarios mostly wait for the servers' time limits: many run beside the others. */
  readonly waits?: true
  generate(random: RandomChoices): Scenario
}

export const generators: readonly Generator[] = [
  {
    area: 'bodies',
    compares: 'creations of valid and damaged objects of every kind: causes, defaults, warnings',
    generate: generateBodies,
  },
  {
    area: 'updates',
    compares: 'replacements of mutable and immutable fields, of status, with preconditions',
    generate: generateUpdates,
  },
  {
    area: 'empties',
    compares: 'empty lists and maps where a member is absent, in creations, replacements and patches',
    generate: generateEmpties,
  },
  { area: 'patches', compares: 'JSON, merge and strategic merge patches', generate: generatePatches },
  { area: 'applies', compares: 'server-side apply by two to four managers, with updates in between', generate: generateApplies },
  {
    area: 'reads',
    compares: 'gets, lists, chunks, watches with all options and representations',
    waits: true,
    generate: generateReads,
  },
  {
    area: 'races',
    compares: 'two clients that change one object in turn, each from the version it has seen',
    generate: generateRaces,
  },
  {
    area: 'protobuf',
    compares: 'every verb with protobuf in both directions, byte by byte; damaged messages; frames of watches',
    generate: generateProtobuf,
  },
  {
    area: 'documents',
    compares: 'discovery in all forms, OpenAPI, /version, columns of Tables, conditional requests',
    generate: generateDocuments,
  },
  {
    area: 'lives',
    compares: 'finalizers, deletion with options and preconditions, deletion of collections',
    generate: generateLives,
  },
  {
    area: 'namespaces',
    compares: 'phases of namespaces, their finalizers, writes into terminating ones',
    generate: generateNamespaces,
  },
  { area: 'access', compares: 'roles, bindings, escalation, impersonation, access reviews', generate: generateAccess },
  {
    area: 'subresources',
    compares: 'status of every kind, scale, eviction, binding, resize, ephemeral containers, tokens, approvals, connections',
    generate: generateSubresources,
  },
  {
    area: 'definitions',
    compares: 'definitions of custom resources, valid and damaged: causes, conditions, updates',
    generate: generateDefinitions,
  },
  {
    area: 'customs',
    compares: 'objects of generated definitions: pruning, defaults, validation, patches, apply, scale, Tables',
    generate: generateCustoms,
  },
  {
    area: 'admission',
    compares: 'quotas, limits, classes, pod security, policies in CEL, and webhooks with their reviews',
    generate: generateAdmission,
  },
  { area: 'headers', compares: 'methods, paths, media types, malformed bodies', generate: generateHeaders },
  {
    area: 'http',
    compares: 'odd methods, doubled and escaped slashes, parameters of other verbs, conditions, compression, credentials',
    generate: generateHttp,
  },
  {
    area: 'watches',
    compares: 'watches of objects that begin and cease to match, by all paths, from all versions, in all forms',
    waits: true,
    generate: generateWatches,
  },
  {
    area: 'certificates',
    compares: 'certificate signing requests of several users and algorithms, their approval and status',
    generate: generateCertificates,
  },
  {
    area: 'tokens',
    compares: 'tokens of service accounts, bound to pods, secrets and nodes: reviews and requests before and after deletions',
    waits: true,
    generate: generateTokens,
  },
  {
    area: 'grants',
    compares: 'what users may grant: roles, bindings, the verbs escalate and bind, reviews with selectors',
    generate: generateGrants,
  },
  {
    area: 'nodes',
    compares: 'what a node may do: the node authorizer and NodeRestriction',
    generate: generateNodes,
  },
  {
    area: 'tables',
    compares: 'Tables of every kind from generated objects and status',
    generate: generateTables,
  },
  {
    area: 'versions',
    compares: 'definitions with several versions without conversion, and their objects by any version',
    waits: true,
    generate: generateVersions,
  },
  {
    area: 'conversions',
    compares:
      'objects of definitions whose versions a webhook converts: owners, patches, applies, status and scale by every version',
    waits: true,
    generate: generateConversions,
  },
  {
    area: 'quotas',
    compares: 'quotas and limit ranges over creations, updates, resizes and deletions of what they count',
    waits: true,
    generate: generateQuotas,
  },
  {
    area: 'aggregation',
    compares: 'API services whose backend does not answer: conditions, discovery, requests to their groups',
    waits: true,
    generate: generateAggregation,
  },
  {
    area: 'records',
    compares: 'events by both of their groups, and leases',
    generate: generateRecords,
  },
  {
    area: 'fairness',
    compares: 'flow schemas and priority levels: validation, status, and to which of them the requests of other users belong',
    waits: true,
    generate: generateFairness,
  },
  {
    area: 'expressions',
    compares: 'rules of definitions that use every function of CEL, nested: types, errors and estimated costs',
    generate: generateExpressions,
  },
  {
    area: 'yaml',
    compares: 'bodies of generated YAML: every style of scalars and collections, comments, anchors, tags, markers, damage',
    waits: true,
    generate: generateYaml,
  },
  {
    area: 'numbers',
    compares: 'numbers of every notation in all media types and verbs, with columns, scale and restrictions',
    waits: true,
    generate: generateNumbers,
  },
]
