import { header, type RequestContext } from '../request/context.ts'
import { text } from '../request/query.ts'

const parsedAsTrue = new Set(['1', 't', 'T', 'true', 'True', 'TRUE'])

/**
 * Whether the JSON of a response is indented: requested in Accept (`pretty=1`), by the parameter `pretty` (a boolean of Go; empty counts as
 * absent), or, without the parameter, because the client is a browser, curl or Wget. The rule applies to objects, errors and discovery
 * documents alike.
 *
 * @see API protocol specification, 4.1
 */
export function wantsPretty(
  { query, request }: Pick<RequestContext, 'query' | 'request'>,
  representation: { readonly pretty: boolean },
): boolean {
  if (representation.pretty) return true
  const asked = text(query, 'pretty') ?? ''
  if (asked !== '') return parsedAsTrue.has(asked)
  const agent = header(request, 'user-agent') ?? ''
  return agent.startsWith('curl') || agent.startsWith('Wget') || agent.startsWith('Mozilla/5.0')
}
