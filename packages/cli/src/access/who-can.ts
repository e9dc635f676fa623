import { whoCan } from '@krmkit/authorization'
import { prettyJson } from '../offline/print.ts'
import { exitCodes, type Terminal } from '../offline/terminal.ts'
import { accessRequestText, parseAccessRequest, resourcesOfRelease } from './access-request.ts'
import { columns, holderRow, holderValue } from './access-text.ts'
import type { AccessFlags } from './options.ts'
import { loadRbacSource } from './rbac-source.ts'

/** Runs `krmkit who-can`. @returns the exit code. @throws CliError, ApiError, ClientError */
export async function runWhoCan(
  [verb, resource]: readonly [string, string],
  flags: AccessFlags,
  terminal: Terminal,
): Promise<number> {
  const { rbac, namespace } = await loadRbacSource(flags, terminal)
  const request = parseAccessRequest(verb, resource, { ...flags, namespace, resources: await resourcesOfRelease(flags.release) })
  const holders = whoCan(rbac.policy, request)
  if (flags.output === 'json') terminal.out(`${prettyJson(holders.map(holderValue))}\n`)
  else if (holders.length > 0) terminal.out(columns([['SUBJECT', 'BINDING', 'ROLE', 'RULE'], ...holders.map(holderRow)]))
  else
    terminal.err(`No binding allows ${accessRequestText(request)}; members of the group system:masters are allowed everything.\n`)
  return holders.length > 0 ? exitCodes.success : exitCodes.findings
}
