import type { RandomChoices } from '@krmkit/meta/random-choices'
import type { Scenario } from '../scenario.ts'
import { generateAccess } from './access.ts'
import { generateAdmission } from './admission.ts'
import { generateApplies } from './applies.ts'
import { generateBodies } from './bodies.ts'
import { generateCustoms } from './customs.ts'
import { generateDefinitions } from './definitions.ts'
import { generateDocuments } from './documents.ts'
import { generateEmpties } from './empties.ts'
import { generateHeaders } from './headers.ts'
import { generateLives, generateNamespaces } from './life.ts'
import { generatePatches } from './patches.ts'
import { generateProtobuf } from './protobuf.ts'
import { generateRaces } from './races.ts'
import { generateReads } from './reads.ts'
import { generateSubresources } from './subresources.ts'
import { generateUpdates } from './writes.ts'

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
]
