import { type AccessExplanation, explainAccess } from '@krmkit/authorization'
import type { UserInfo } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import type { Paint } from '../offline/paint.ts'
import { prettyJson } from '../offline/print.ts'
import { exitCodes, type Terminal } from '../offline/terminal.ts'
import { type AccessRequest, accessRequestText, parseAccessRequest, resourcesOfRelease } from './access-request.ts'
import { bindingText, holderRow, holderValue, roleText, ruleText } from './access-text.ts'
import type { AccessFlags, SubjectFlags } from './options.ts'
import { loadRbacSource, parseUser } from './rbac-source.ts'

const administrators = 'system:masters'

/** Runs `krmkit explain-access`. @returns the exit code. @throws CliError, ApiError, ClientError */
export async function runExplainAccess(
  [verb, resource]: readonly [string, string],
  flags: AccessFlags & SubjectFlags,
  terminal: Terminal,
): Promise<number> {
  const user = parseUser(flags)
  const { rbac, namespace } = await loadRbacSource(flags, terminal)
  const request = parseAccessRequest(verb, resource, { ...flags, namespace, resources: await resourcesOfRelease(flags.release) })
  const explanation = explainAccess(rbac.policy, { ...request, user })
  const isAdministrator = user.groups.includes(administrators)
  const allowed = explanation.allowed || isAdministrator
  if (flags.output === 'json') terminal.out(`${prettyJson(documentOf(explanation, allowed, isAdministrator))}\n`)
  else terminal.out(textOf({ user, request, explanation, isAdministrator }, terminal.paint('out', flags.color)))
  return allowed ? exitCodes.success : exitCodes.findings
}

function documentOf({ grants, insufficient, others }: AccessExplanation, allowed: boolean, isAdministrator: boolean): object {
  return {
    allowed,
    ...(isAdministrator ? { privilegedGroup: administrators } : {}),
    grants: grants.map(holderValue),
    insufficient: insufficient.map(({ binding: { kind, namespace, name }, why }) => ({
      binding: { kind, ...(namespace === '' ? {} : { namespace }), name },
      why,
    })),
    others: others.map(holderValue),
  }
}

interface ExplanationDetails {
  readonly user: UserInfo
  readonly request: AccessRequest
  readonly explanation: AccessExplanation
  readonly isAdministrator: boolean
}

function textOf({ user, request, explanation, isAdministrator }: ExplanationDetails, paint: Paint): string {
  const { grants, insufficient, others, allowed } = explanation
  const userText = `${user.username} (groups ${user.groups.join(', ')})`
  const answer = allowed || isAdministrator ? paint.green('yes') : paint.red('no')
  const lines = [`${answer}: ${userText} ${allowed || isAdministrator ? 'may' : 'may not'} ${accessRequestText(request)}`]
  if (isAdministrator) lines.push(`  The group ${goQuote(administrators)} is allowed everything, independent of roles.`)
  for (const { binding, subject, rule, ruleIndex } of grants) {
    lines.push(`  ${bindingText(binding)} gives ${roleText(binding)} to ${subject.kind} ${goQuote(subject.name)};`)
    lines.push(`    ${ruleText(rule, ruleIndex)}`)
  }
  if (!allowed && !isAdministrator) {
    lines.push(
      insufficient.length === 0 ? '  No binding applies to this user here.' : '  Bindings of this user that do not allow it:',
    )
    for (const { binding, why } of insufficient) lines.push(`    ${bindingText(binding)} of ${roleText(binding)}: ${why}`)
    if (others.length > 0) lines.push('  Allowed subjects:')
    for (const other of others)
      lines.push(
        `    ${holderRow(other)
          .slice(0, 3)
          .join(', by ')
          .replace(/, by ([^,]*)$/, ' of $1')}`,
      )
  }
  return `${lines.join('\n')}\n`
}
