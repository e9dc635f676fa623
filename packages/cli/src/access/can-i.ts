import {
  type Attributes,
  createPrivilegedGroupsAuthorizer,
  type Decision,
  type PolicyRule,
  type SubjectRules,
} from '@krmkit/authorization'
import { createRemoteClient, type KubeconfigConnection, resourceType } from '@krmkit/client'
import { type ApiObject, stockProfile } from '@krmkit/meta'
import { CliError } from '../cli-error.ts'
import { prettyJson } from '../offline/print.ts'
import { exitCodes, type Terminal } from '../offline/terminal.ts'
import { type AccessRequest, parseAccessRequest, resourcesOfRelease } from './access-request.ts'
import { columns } from './access-text.ts'
import type { AccessFlags, SubjectFlags } from './options.ts'
import { connectionOf, loadRbacSource, parseUser, withClient } from './rbac-source.ts'

export interface CanIFlags extends AccessFlags, SubjectFlags {
  readonly list: boolean
  readonly quiet: boolean
}

type ReviewResult = Pick<Decision, 'reason'> & { readonly allowed: boolean; readonly evaluationError?: string | undefined }

/** Reviews access by roles of files or by a server. */
interface AccessReviewer {
  readonly namespace: string
  decide(request: AccessRequest): Promise<ReviewResult>
  rules(namespace: string): Promise<SubjectRules>
}

/** Runs `krmkit can-i`. @returns the exit code. @throws CliError, ApiError, ClientError */
export async function runCanI(args: readonly (string | undefined)[], flags: CanIFlags, terminal: Terminal): Promise<number> {
  const [verb = '', resource = ''] = args
  if (flags.list !== (verb === '')) {
    const message = flags.list ? '--list takes no verb and no resource' : 'missing arguments: VERB RESOURCE, or --list'
    throw new CliError({ code: 'InvalidFlag', message })
  }
  if (!flags.list && resource === '') throw new CliError({ code: 'InvalidFlag', message: 'missing argument: VERB RESOURCE' })
  const reviewer = flags.filename.length > 0 ? await createFileReviewer(flags, terminal) : await createServerReviewer(flags)
  if (flags.list) return printRules(await reviewer.rules(flags.namespace ?? reviewer.namespace), flags, terminal)
  const { namespace } = reviewer
  const resources = await resourcesOfRelease(flags.release)
  const result = await reviewer.decide(parseAccessRequest(verb, resource, { ...flags, namespace, resources }))
  const { allowed, reason, evaluationError = '' } = result
  if (flags.output === 'json') terminal.out(`${prettyJson(result)}\n`)
  else if (!flags.quiet) {
    const paint = terminal.paint('out', flags.color)
    const details = [reason, evaluationError].filter((text) => text !== '').join('; ')
    terminal.out(`${allowed ? paint.green('yes') : paint.red('no')}${details === '' ? '' : ` - ${details}`}\n`)
  }
  return allowed ? exitCodes.success : exitCodes.findings
}

async function createFileReviewer(flags: CanIFlags, terminal: Terminal): Promise<AccessReviewer> {
  const user = parseUser(flags)
  const { rbac, namespace } = await loadRbacSource(flags, terminal)
  const masters = createPrivilegedGroupsAuthorizer()
  return {
    namespace,
    async decide(request) {
      const attributes: Attributes = { ...request, user }
      const { decision } = await masters.authorize(attributes)
      if (decision === 'allow') return { allowed: true, reason: 'member of the group system:masters' }
      const { decision: decided, reason } = rbac.authorize(attributes)
      return { allowed: decided === 'allow', reason }
    },
    rules: async (where) => rbac.rulesFor(user, where),
  }
}

/** Reviews access by SelfSubjectAccessReview and SelfSubjectRulesReview, impersonating `--as` when it is set. */
async function createServerReviewer(flags: CanIFlags): Promise<AccessReviewer> {
  const connection = await connectionOf(flags)
  return {
    namespace: flags.namespace ?? connection.namespace,
    async decide({ verb, isResource, path, group, resource, subresource, namespace, name }) {
      const spec = isResource
        ? { resourceAttributes: { verb, group, resource, subresource, namespace, name } }
        : { nonResourceAttributes: { verb, path } }
      const {
        allowed = false,
        reason = '',
        evaluationError,
      } = await review<Partial<ReviewResult>>({ kind: 'SelfSubjectAccessReview', spec }, { connection, flags })
      return { allowed, reason, ...(evaluationError === undefined ? {} : { evaluationError }) }
    },
    async rules(namespace) {
      interface Status {
        readonly resourceRules?: readonly PolicyRule[]
        readonly nonResourceRules?: readonly PolicyRule[]
        readonly incomplete?: boolean
        readonly evaluationError?: string
      }
      const status = await review<Status>({ kind: 'SelfSubjectRulesReview', spec: { namespace } }, { connection, flags })
      return {
        resourceRules: status.resourceRules ?? [],
        nonResourceRules: status.nonResourceRules ?? [],
        incomplete: status.incomplete ?? false,
        errors: status.evaluationError === undefined ? [] : [status.evaluationError],
      }
    },
  }
}

async function review<T>(
  { kind, spec }: { readonly kind: string; readonly spec: object },
  { connection, flags }: { readonly connection: KubeconfigConnection; readonly flags: SubjectFlags },
): Promise<T> {
  const { as: user, asGroup: groups } = flags
  if (user === undefined && groups.length > 0) throw new CliError({ code: 'InvalidFlag', message: '--as-group needs --as' })
  const client = createRemoteClient({ ...connection, ...(user === undefined ? {} : { impersonate: { user, groups } }) })
  const group = `authorization.${stockProfile.apiDomain}`
  const resource = `${kind.toLowerCase()}s`
  const type = resourceType<ApiObject & { status?: T }>({ group, version: 'v1', resource, kind, namespaced: false })
  const result = await withClient(client, () => client.create(type, { metadata: {}, spec } as unknown as ApiObject))
  return (result.status ?? {}) as T
}

function printRules(result: SubjectRules, { output, quiet }: CanIFlags, terminal: Terminal): number {
  const { resourceRules, nonResourceRules, incomplete, errors } = result
  if (output === 'json') terminal.out(`${prettyJson(result)}\n`)
  else if (!quiet) {
    const rows = [...resourceRows(resourceRules), ...nonResourceRules.map(pathRow)]
    terminal.out(columns([['Resources', 'Non-Resource URLs', 'Resource Names', 'Verbs'], ...rows]))
    if (incomplete) terminal.err('krmkit: the list may be incomplete\n')
    for (const error of errors) terminal.err(`krmkit: ${error}\n`)
  }
  return exitCodes.success
}

/** One row per resource and names, with the verbs of all rules. */
function resourceRows(rules: readonly PolicyRule[]): string[][] {
  const rows = new Map<string, { readonly cells: readonly [string, string]; readonly verbs: Set<string> }>()
  for (const { apiGroups = [], resources = [], resourceNames = [], verbs } of rules) {
    for (const group of apiGroups) {
      for (const resource of resources) {
        const cells = [withGroup(resource, group), listText(resourceNames)] as const
        const key = cells.join(' ')
        const row = rows.get(key) ?? { cells, verbs: new Set() }
        for (const verb of verbs) row.verbs.add(verb)
        rows.set(key, row)
      }
    }
  }
  return [...rows.values()].map(({ cells: [name, names], verbs }) => [name, listText([]), names, listText([...verbs])])
}

function pathRow({ nonResourceURLs = [], verbs }: PolicyRule): string[] {
  return ['', listText(nonResourceURLs), listText([]), listText(verbs)]
}

/** `deployments.apps/scale` */
function withGroup(resource: string, group: string): string {
  const slash = resource.indexOf('/')
  if (group === '') return resource
  return slash === -1 ? `${resource}.${group}` : `${resource.slice(0, slash)}.${group}${resource.slice(slash)}`
}

function listText(texts: readonly string[]): string {
  return `[${texts.join(' ')}]`
}
