/** Query and path parameters of the protocol, by action. */

export interface Parameter {
  readonly name: string
  readonly in: 'query' | 'path'
  readonly type: 'string' | 'integer' | 'boolean'
  readonly description: string
  /** Name of the shared parameter in version 2; absent for parameters that are declared inline. */
  readonly shared?: string
}

function query(name: string, type: Parameter['type'], description: string, shared: string | null = name): Parameter {
  return { name, in: 'query', type, description, ...(shared === null ? {} : { shared }) }
}

export const pretty = query('pretty', 'string', 'true: indent the answer. The default depends on the client.')

export const namespace: Parameter = {
  name: 'namespace',
  in: 'path',
  type: 'string',
  description: 'Namespace of the object.',
  shared: 'namespace',
}

export function nameOf(kind: string): Parameter {
  return { name: 'name', in: 'path', type: 'string', description: `Name of the ${kind}.` }
}

export const proxiedPath: Parameter = { name: 'path', in: 'path', type: 'string', description: 'Path to ask the target for.' }

/** Declared inline: old clients look for these two on the operation. */
const dryRun = query('dryRun', 'string', 'All: pass through every stage, but store nothing.', null)
const fieldValidation = query(
  'fieldValidation',
  'string',
  'What becomes of unknown and duplicate fields: Ignore drops them, Warn (the default) drops them with a warning, Strict refuses the request.',
  null,
)

const fieldManager = query(
  'fieldManager',
  'string',
  'Name under which the fields set by this request are owned; at most 128 printable characters.',
)
const fieldManagerOfPatch = query(
  'fieldManager',
  'string',
  'Name under which the fields set by this request are owned; at most 128 printable characters. Required in an apply request.',
  'fieldManagerOfPatch',
)
const force = query('force', 'boolean', 'Apply requests only: take over the fields in conflict.')

const resourceVersion = query(
  'resourceVersion',
  'string',
  'Version that the answer is to reflect; resourceVersionMatch says how.',
)

const chunks = [
  query('continue', 'string', 'Token of the previous answer, to ask for the next chunk of a list.'),
  query('fieldSelector', 'string', 'Only objects with these field values, such as metadata.name=a.'),
  query('labelSelector', 'string', 'Only objects with these labels, such as app=a,tier!=b.'),
  query('limit', 'integer', 'At most so many objects in one answer; the rest is fetched with continue.'),
  resourceVersion,
  query('resourceVersionMatch', 'string', 'How resourceVersion is meant in a list: Exact or NotOlderThan.'),
  query(
    'sendInitialEvents',
    'boolean',
    'true, in a watch: begin with the present state as ADDED events, and mark its end with a BOOKMARK.',
  ),
  query('timeoutSeconds', 'integer', 'Seconds after which the call ends, whatever happens.'),
]

const deletion = [
  dryRun,
  query('gracePeriodSeconds', 'integer', 'Seconds that the object is given to end; 0 means at once.'),
  query(
    'ignoreStoreReadErrorWithClusterBreakingPotential',
    'boolean',
    'true: remove an object whose stored form cannot be read, without finalizers and preconditions. Dangerous.',
  ),
  query('orphanDependents', 'boolean', 'Superseded by propagationPolicy.'),
  query('propagationPolicy', 'string', 'What becomes of dependents: Orphan, Background or Foreground.'),
]

const list = [
  query('allowWatchBookmarks', 'boolean', 'true, in a watch: send BOOKMARK events now and then.'),
  ...chunks,
  query('watch', 'boolean', 'true: stream the changes instead of listing.'),
]

export const parametersOf = {
  get: [pretty],
  customGet: [pretty, resourceVersion],
  list: [pretty, ...list],
  post: [pretty, dryRun, fieldManager, fieldValidation],
  put: [pretty, dryRun, fieldManager, fieldValidation],
  patch: [pretty, dryRun, fieldManagerOfPatch, fieldValidation, force],
  delete: [pretty, ...deletion],
  deletecollection: [pretty, ...chunks, ...deletion],
} as const satisfies Readonly<Record<string, readonly Parameter[]>>

/** Whether two parameters are equal. */
export function sameParameter(a: Parameter, b: Parameter): boolean {
  return a === b || (a.name === b.name && a.in === b.in && a.type === b.type && a.description === b.description)
}
