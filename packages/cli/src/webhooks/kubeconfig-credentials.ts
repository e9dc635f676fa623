import { readFileSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { type CredentialsResolver, createCredentialsResolver, type WebhookCredentials } from '@krmkit/admission/webhooks'
import { kubeconfigCredentialMembers } from '@krmkit/client'
import { parseYaml } from '@krmkit/schema'
import { CliError } from '../cli-error.ts'

/** Credentials of the server for admission webhooks: the users of a kubeconfig, named by the hosts of webhooks. */

type Members = Readonly<Record<string, unknown>>

const knownMembers: ReadonlySet<string> = new Set([...kubeconfigCredentialMembers, 'extensions'])

/** Reads the kubeconfig. @throws CliError `FileFailed` for an unreadable file, `InvalidFlag` for invalid or unsupported members. */
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
    if (user[member] !== undefined && user[member] !== null) throw invalid(path, `user ${name}: ${member} is not supported`)
  }
  const unknown = Object.keys(user).find((member) => !knownMembers.has(member))
  // A misspelled member would silently drop the credential.
  if (unknown !== undefined) throw invalid(path, `user ${name}: ${JSON.stringify(unknown)} is not a member of a user`)
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

/** The header of a request. A token file is read for each request, because it is rotated. */
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

/** Resolves a path relative to the folder of the kubeconfig. */
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

/** The members of an object; empty for an absent value. @throws CliError for other values. */
function membersOf(value: unknown, path: string): Members {
  if (value === undefined || value === null) return {}
  if (typeof value === 'object' && !Array.isArray(value)) return value as Members
  throw invalid(path, 'expected an object')
}

function listOf(members: Members, name: string, path: string): readonly Members[] {
  const value = members[name] ?? []
  if (!Array.isArray(value)) throw invalid(path, `${name} is not a list`)
  return value.map((each) => membersOf(each, path))
}

/** A string member; empty counts as absent. @throws CliError for other values. */
function textOf(members: Members, name: string, path: string): string | undefined {
  const value = Object.hasOwn(members, name) ? members[name] : undefined
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'string') return value
  throw invalid(path, `${name} is not a string`)
}

function invalid(path: string, what: string): CliError {
  return new CliError({ code: 'InvalidFlag', message: `webhook credentials: ${path}: ${what}` })
}
