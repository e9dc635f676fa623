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

export const pretty = query('pretty', 'string', 'true indents the response. The default depends on the client.')

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

export const proxiedPath: Parameter = { name: 'path', in: 'path', type: 'string', description: 'Path on the target.' }

/** Declared inline, because old clients look for dryRun and fieldValidation on the operation. */
const dryRun = query('dryRun', 'string', 'All processes the request without persisting it.', null)
const fieldValidation = query(
  'fieldValidation',
  'string',
  'Handling of unknown and duplicate fields: Ignore drops them, Warn (the default) drops them with a warning, Strict rejects the request.',
  null,
)

const fieldManager = query(
  'fieldManager',
  'string',
  'Field manager of the fields set by this request; at most 128 printable characters.',
)
const fieldManagerOfPatch = query(
  'fieldManager',
  'string',
  'Field manager of the fields set by this request; at most 128 printable characters. Required for apply.',
  'fieldManagerOfPatch',
)
const force = query('force', 'boolean', 'Apply only: take ownership of conflicting fields.')

const resourceVersion = query('resourceVersion', 'string', 'Requested version; see resourceVersionMatch.')

const chunks = [
  query('continue', 'string', 'Continue token of the previous chunk of a list.'),
  query('fieldSelector', 'string', 'Selects objects by field values, such as metadata.name=a.'),
  query('labelSelector', 'string', 'Selects objects by labels, such as app=a,tier!=b.'),
  query('limit', 'integer', 'Maximum number of objects in one response; continue returns the rest.'),
  resourceVersion,
  query('resourceVersionMatch', 'string', 'How resourceVersion applies to a list: Exact or NotOlderThan.'),
  query(
    'sendInitialEvents',
    'boolean',
    'Watch only: true starts with the current state as ADDED events, followed by a BOOKMARK.',
  ),
  query('timeoutSeconds', 'integer', 'Timeout of the request in seconds.'),
]

const deletion = [
  dryRun,
  query('gracePeriodSeconds', 'integer', 'Grace period in seconds; 0 deletes immediately.'),
  query(
    'ignoreStoreReadErrorWithClusterBreakingPotential',
    'boolean',
    'true deletes an object whose stored form cannot be read, ignoring finalizers and preconditions. Dangerous.',
  ),
  query('orphanDependents', 'boolean', 'Superseded by propagationPolicy.'),
  query('propagationPolicy', 'string', 'How dependents are handled: Orphan, Background or Foreground.'),
]

const list = [
  query('allowWatchBookmarks', 'boolean', 'Watch only: true sends periodic BOOKMARK events.'),
  ...chunks,
  query('watch', 'boolean', 'true streams changes instead of listing.'),
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
