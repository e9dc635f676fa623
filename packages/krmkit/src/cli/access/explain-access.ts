import { type AccessExplanation, explainAccess } from '@krmkit/authorization'
import { goQuote, type UserInfo } from '@krmkit/meta'
import type { Paint } from '../offline/paint.ts'
import { prettyJson } from '../offline/print.ts'
import { exitCodes, type Terminal } from '../offline/terminal.ts'
import type { AccessFlags, SubjectFlags } from './options.ts'
import { type Question, questionOf, questionText } from './question.ts'
import { accessSource, userOf } from './source.ts'
import { bindingText, holderRow, holderValue, roleText, ruleText } from './texts.ts'

const administrators = 'system:masters'

export async function runExplainAccess(
  [verb, resource]: readonly [string, string],
  flags: AccessFlags & SubjectFlags,
  terminal: Terminal,
): Promise<number> {
  const user = userOf(flags)
  const { rbac, namespace } = await accessSource(flags, terminal)
  const question = questionOf(verb, resource, { ...flags, namespace })
  const explanation = explainAccess(rbac.policy, { ...question, user })
  const isAdministrator = user.groups.includes(administrators)
  const allowed = explanation.allowed || isAdministrator
  if (flags.output === 'json') terminal.out(`${prettyJson(documentOf(explanation, allowed, isAdministrator))}\n`)
  else terminal.out(textOf({ user, question, explanation, isAdministrator }, terminal.paint('out', flags.color)))
  return allowed ? exitCodes.fine : exitCodes.findings
}

function documentOf({ grants, insufficient, others }: AccessExplanation, allowed: boolean, isAdministrator: boolean): object {
  return {
    allowed,
    ...(isAdministrator ? { privilegedGroup: administrators } : {}),
    grants: grants.map(holderValue),
    passedOver: insufficient.map(({ binding: { kind, namespace, name }, why }) => ({
      binding: { kind, ...(namespace === '' ? {} : { namespace }), name },
      why,
    })),
    others: others.map(holderValue),
  }
}

interface Told {
  readonly user: UserInfo
  readonly question: Question
  readonly explanation: AccessExplanation
  readonly isAdministrator: boolean
}

function textOf({ user, question, explanation, isAdministrator }: Told, paint: Paint): string {
  const { grants, insufficient, others, allowed } = explanation
  const who = `${user.username} (groups ${user.groups.join(', ')})`
  const answer = allowed || isAdministrator ? paint.green('yes') : paint.red('no')
  const lines = [`${answer}: ${who} ${allowed || isAdministrator ? 'may' : 'may not'} ${questionText(question)}`]
  if (isAdministrator) lines.push(`  The group ${goQuote(administrators)} may everything, whatever roles say.`)
  for (const { binding, subject, rule, ruleIndex } of grants) {
    lines.push(`  ${bindingText(binding)} gives ${roleText(binding)} to ${subject.kind} ${goQuote(subject.name)};`)
    lines.push(`    ${ruleText(rule, ruleIndex)}`)
  }
  if (!allowed && !isAdministrator) {
    lines.push(
      insufficient.length === 0 ? '  No binding concerns this user here.' : '  Bindings of this user that do not allow it:',
    )
    for (const { binding, why } of insufficient) lines.push(`    ${bindingText(binding)} of ${roleText(binding)}: ${why}`)
    if (others.length > 0) lines.push('  Others may:')
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
