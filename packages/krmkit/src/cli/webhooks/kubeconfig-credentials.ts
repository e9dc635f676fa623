import { readFileSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { type CredentialsResolver, createCredentialsResolver, type WebhookCredentials } from '@krmkit/admission'
import { parseYaml } from '@krmkit/schema'
import { CliError } from '../cli-error.ts'

/** Who the server is to admission webhooks: the users of a kubeconfig, by the host names of webhooks. */

type Members = Readonly<Record<string, unknown>>

const knownMembers: ReadonlySet<string> = new Set([
  ...[
    'client-certificate',
    'client-certificate-data',
    'client-key',
    'client-key-data',
    'token',
    'tokenFile',
    'username',
    'password',
  ],
  'extensions',
])

/** @throws CliError `FileFailed` for a file that cannot be read, `InvalidFlag` for one that says what cannot be done. */
export function kubeconfigCredentials(path: string): CredentialsResolver {
  if (!isAbsolute(path)) throw invalid(path, 'kubeConfigFile must be an absolute file path')
  const file = membersOf(parseYaml(new TextEncoder().encode(readText(path))).value, path)
  const users: Record<string, WebhookCredentials> = Object.create(null)
  for (const each of listOf(file, 'users', path)) {
    const name = textOf(each, 'name', path)
    if (name !== undefined) users[name] = userOf(membersOf(each['user'], path), { name, path })
  }
  const wanted = textOf(file, 'current-context', path)
  const context = listOf(file, 'contexts', path).find((each) => textOf(each, 'name', path) === wanted)
  const current = textOf(membersOf(context?.['context'], path), 'user', path)
  return createCredentialsResolver({ users, current })
}

function userOf(user: Members, { name, path }: { readonly name: string; readonly path: string }): WebhookCredentials {
  for (const member of ['exec', 'auth-provider']) {
    if (user[member] !== undefined && user[member] !== null) throw invalid(path, `user ${name}: ${member} is not possible here`)
  }
  const unknown = Object.keys(user).find((member) => !knownMembers.has(member))
  // A credential under a misspelled name would be none.
  if (unknown !== undefined) throw invalid(path, `user ${name}: ${JSON.stringify(unknown)} is no member of a user`)
  const certificate = pemOf(user, 'client-certificate', path)
  const key = pemOf(user, 'client-key', path)
  if ((certificate === undefined) !== (key === undefined))
    throw invalid(path, `user ${name}: a certificate and its key go together`)
  const authorization = authorizationOf(user, path)
  return {
    ...(certificate === undefined || key === undefined ? {} : { certificate, key }),
    ...(authorization === undefined ? {} : { authorization }),
  }
}

/** A token file is read for every request: whoever renews the token writes it anew. */
function authorizationOf(user: Members, path: string): (() => string) | undefined {
  const tokenFile = textOf(user, 'tokenFile', path)
  const token = textOf(user, 'token', path)
  const username = textOf(user, 'username', path)
  const password = textOf(user, 'password', path)
  if (tokenFile !== undefined) return () => `Bearer ${tokenIn(beside(path, tokenFile))}`
  if (token !== undefined) return () => `Bearer ${token}`
  if (username === undefined && password === undefined) return undefined
  const basic = Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64')
  return () => `Basic ${basic}`
}

function tokenIn(path: string): string {
  const token = readText(path).trim()
  if (token === '') throw new CliError({ code: 'FileFailed', message: `the token file ${path} is empty` })
  return token
}

function pemOf(user: Members, name: string, path: string): string | undefined {
  const data = textOf(user, `${name}-data`, path)?.replace(/\s+/g, '')
  if (data !== undefined) {
    if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) throw invalid(path, `${name}-data is not base64`)
    return Buffer.from(data, 'base64').toString('utf8')
  }
  const file = textOf(user, name, path)
  return file === undefined ? undefined : readText(beside(path, file))
}

/** A path in a kubeconfig counts from the folder of the file. */
function beside(path: string, file: string): string {
  return isAbsolute(file) ? file : join(dirname(path), file)
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `cannot read ${path}`, cause })
  }
}

/** The members of an object; none of what is absent. @throws CliError for anything else, as do the others. */
function membersOf(value: unknown, path: string): Members {
  if (value === undefined || value === null) return {}
  if (typeof value === 'object' && !Array.isArray(value)) return value as Members
  throw invalid(path, 'a member that has to be an object is none')
}

function listOf(members: Members, name: string, path: string): readonly Members[] {
  const value = members[name] ?? []
  if (!Array.isArray(value)) throw invalid(path, `${name} is not a list`)
  return value.map((each) => membersOf(each, path))
}

/** An empty text counts as absent. */
function textOf(members: Members, name: string, path: string): string | undefined {
  const value = Object.hasOwn(members, name) ? members[name] : undefined
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'string') return value
  throw invalid(path, `${name} is not a text`)
}

function invalid(path: string, what: string): CliError {
  return new CliError({ code: 'InvalidFlag', message: `webhook credentials: ${path}: ${what}` })
}
