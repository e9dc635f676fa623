import { whoCan } from '@krmkit/authorization'
import { prettyJson } from '../offline/print.ts'
import { exitCodes, type Terminal } from '../offline/terminal.ts'
import type { AccessFlags } from './options.ts'
import { questionOf, questionText } from './question.ts'
import { accessSource } from './source.ts'
import { columns, holderRow, holderValue } from './texts.ts'

export async function runWhoCan(
  [verb, resource]: readonly [string, string],
  flags: AccessFlags,
  terminal: Terminal,
): Promise<number> {
  const { rbac, namespace } = await accessSource(flags, terminal)
  const question = questionOf(verb, resource, { ...flags, namespace })
  const holders = whoCan(rbac.policy, question)
  if (flags.output === 'json') terminal.out(`${prettyJson(holders.map(holderValue))}\n`)
  else if (holders.length > 0) terminal.out(columns([['SUBJECT', 'BINDING', 'ROLE', 'RULE'], ...holders.map(holderRow)]))
  else terminal.err(`No binding lets anybody ${questionText(question)}; members of the group system:masters may everything.\n`)
  return holders.length > 0 ? exitCodes.fine : exitCodes.findings
}
