import { checkMembers, invalidOption, type Members } from './known-members.ts'
import { checkKinds, type OptionKind } from './option-kinds.ts'
import type { RequestAttributes } from './request-attributes.ts'

/** Selects requests: all given fields must match. */
export interface Match {
  readonly verb?: string | readonly string[]
  readonly group?: string
  readonly resource?: string
  /** Absent: any. Empty: the main resource. */
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  readonly user?: string
  readonly path?: string | RegExp
  /** The query as sent. */
  readonly query?: RegExp
}

export const matchMembers: Members<Match> = {
  verb: true,
  group: true,
  resource: true,
  subresource: true,
  namespace: true,
  name: true,
  user: true,
  path: true,
  query: true,
}

const matchKinds: Readonly<Record<Exclude<keyof Match, 'verb'>, OptionKind>> = {
  group: 'text',
  resource: 'text',
  subresource: 'text',
  namespace: 'text',
  name: 'text',
  user: 'text',
  path: 'textOrPattern',
  query: 'pattern',
}

const resourceVerbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']
/** Verbs of requests to non-resource paths: HTTP methods. */
const methods = ['post', 'put', 'head', 'options', 'connect', 'trace']
const corrections: Readonly<Record<string, string>> = { apply: 'patch', post: 'create', put: 'update', read: 'get' }

/** @param known valid members of the match @throws TestingError `InvalidOption` */
export function checkMatch(match: Match, known: Members<Match> = matchMembers): void {
  const what = 'a match of requests'
  checkMembers(what, match, known)
  checkKinds(what, match, matchKinds)
  for (const verb of match.verb === undefined ? [] : [match.verb].flat()) checkVerb(verb)
}

function checkVerb(verb: string): void {
  if (resourceVerbs.includes(verb) || methods.includes(verb)) return
  const correction = typeof verb === 'string' ? corrections[verb.toLowerCase()] : undefined
  const hint = correction === undefined ? '' : `; write ${correction}`
  throw invalidOption(`unknown verb ${JSON.stringify(verb)}${hint}; known: ${resourceVerbs.join(', ')}`)
}

export function matches(match: Match, request: RequestAttributes & { readonly user: string }): boolean {
  const { verb, path, query } = match
  if (verb !== undefined && !(typeof verb === 'string' ? verb === request.verb : verb.includes(request.verb))) return false
  if (path !== undefined && !(typeof path === 'string' ? path === request.path : path.test(request.path))) return false
  if (query !== undefined && !query.test(request.query)) return false
  for (const member of ['group', 'resource', 'subresource', 'namespace', 'name', 'user'] as const) {
    const wanted = match[member]
    if (wanted !== undefined && wanted !== request[member]) return false
  }
  return true
}

/** Formats a match: `create configmaps in default by bob`. */
export function formatMatch(match: Match): string {
  const { verb = 'any verb', resource, subresource, namespace, name, user, path, group } = match
  const words = [typeof verb === 'string' ? verb : verb.join('|')]
  if (resource !== undefined) words.push(subresource ? `${resource}/${subresource}` : resource)
  if (group !== undefined && group !== '') words.push(`of ${group}`)
  if (name !== undefined) words.push(JSON.stringify(name))
  if (namespace !== undefined && namespace !== '') words.push(`in ${namespace}`)
  if (user !== undefined) words.push(`by ${user}`)
  if (path !== undefined) words.push(`at ${path}`)
  if (match.query !== undefined) words.push(`with query ${match.query}`)
  return words.join(' ')
}
