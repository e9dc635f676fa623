import { flagOf, isSet } from './arguments.ts'
import type { Session } from './session.ts'
import { TerminalError } from './terminal-error.ts'

/** `auth can-i` and `auth whoami`: questions to the server. */

interface Review {
  readonly status: {
    readonly allowed?: boolean
    readonly reason?: string
    readonly userInfo?: { readonly username?: string; readonly groups?: readonly string[] }
  }
}

export async function auth(session: Session): Promise<void> {
  const [what, verb, target = '', name = ''] = session.given.words
  if (what === 'whoami') await whoAmI(session)
  else if (what !== 'can-i' || verb === undefined)
    throw new TerminalError('usage: auth can-i VERB RESOURCE [NAME], or auth whoami')
  else await canI(session, verb, target, name)
}

async function whoAmI(session: Session): Promise<void> {
  const { status } = await review(session, 'authentication.k8s.io', 'SelfSubjectReview', {})
  const { username = '', groups = [] } = status.userInfo ?? {}
  session.output.print(`ATTRIBUTE   VALUE\nUsername    ${username}\nGroups      [${groups.join(' ')}]\n`)
}

async function canI(session: Session, verb: string, target: string, given: string): Promise<void> {
  const [type = '', slashed = ''] = target.startsWith('/') ? [target] : target.split('/', 2)
  const name = slashed || given
  const subresource = flagOf(session.given, 'subresource') ?? ''
  const spec = target.startsWith('/')
    ? { nonResourceAttributes: { verb, path: target } }
    : { resourceAttributes: { verb, ...(await attributesOf(session, type)), subresource, name } }
  const { status } = await review(session, 'authorization.k8s.io', 'SelfSubjectAccessReview', spec)
  const { allowed = false, reason = '' } = status
  session.output.print(`${allowed ? 'yes' : 'no'}${reason === '' || allowed ? '' : ` - ${reason}`}\n`)
}

async function attributesOf(session: Session, type: string): Promise<object> {
  if (type === '*') return { group: '*', resource: '*', namespace: session.namespace }
  const { group, name: resource, namespaced } = await session.resource(type)
  const isEverywhere = !namespaced || isSet(session.given, 'all-namespaces')
  return { group, resource, ...(isEverywhere ? {} : { namespace: session.namespace }) }
}

function review(session: Session, group: string, kind: string, spec: object): Promise<Review> {
  const body = JSON.stringify({ apiVersion: `${group}/v1`, kind, spec })
  return session.send<Review>({ method: 'POST', path: `/apis/${group}/v1/${kind.toLowerCase()}s`, body })
}
