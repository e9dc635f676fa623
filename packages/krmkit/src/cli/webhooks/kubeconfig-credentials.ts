import { readFileSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { type CredentialsFor, credentialsByHost, type WebhookCredentials } from '@krmkit/admission'
import { parseYaml } from '@krmkit/schema'
import { CliError } from '../cli-error.ts'

/** Who the server is to admission webhooks: the users of a kubeconfig, by the host names of webhooks. */

type Members = Readonly<Record<string, unknown>>

/** @throws CliError `FileFailed` for a file that cannot be read, `InvalidFlag` for one that says what cannot be done. */
export function kubeconfigCredentials(path: string): CredentialsFor {
  if (!isAbsolute(path)) throw invalid(path, 'kubeConfigFile must be an absolute file path')
  const file = membersOf(parseYaml(new TextEncoder().encode(readText(path))).value)
  const users: Record<string, WebhookCredentials> = Object.create(null)
  for (const each of listOf(file, 'users')) {
    const name = textOf(each, 'name')
    if (name !== undefined) users[name] = userOf(membersOf(each['user']), { name, path })
  }
  const context = listOf(file, 'contexts').find((each) => textOf(each, 'name') === textOf(file, 'current-context'))
  const current = textOf(membersOf(context?.['context']), 'user')
  return credentialsByHost({ users, current })
}

function userOf(user: Members, { name, path }: { readonly name: string; readonly path: string }): WebhookCredentials {
  for (const member of ['exec', 'auth-provider']) {
    if (user[member] !== undefined && user[member] !== null) throw invalid(path, `user ${name}: ${member} is not possible here`)
  }
  const folder = dirname(path)
  const certificate = pemOf(user, 'client-certificate', folder)
  const key = pemOf(user, 'client-key', folder)
  if ((certificate === undefined) !== (key === undefined))
    throw invalid(path, `user ${name}: a certificate and its key go together`)
  const authorization = authorizationOf(user, folder)
  return {
    ...(certificate === undefined || key === undefined ? {} : { certificate, key }),
    ...(authorization === undefined ? {} : { authorization }),
  }
}

/** A token file is read for every request: whoever renews the token writes it anew. */
function authorizationOf(user: Members, folder: string): (() => string) | undefined {
  const tokenFile = textOf(user, 'tokenFile')
  const token = textOf(user, 'token')
  const username = textOf(user, 'username')
  if (tokenFile !== undefined)
    return () => `Bearer ${readText(isAbsolute(tokenFile) ? tokenFile : join(folder, tokenFile)).trim()}`
  if (token !== undefined) return () => `Bearer ${token}`
  if (username === undefined) return undefined
  const basic = Buffer.from(`${username}:${textOf(user, 'password') ?? ''}`).toString('base64')
  return () => `Basic ${basic}`
}

function pemOf(user: Members, name: string, folder: string): string | undefined {
  const data = textOf(user, `${name}-data`)
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8')
  const path = textOf(user, name)
  return path === undefined ? undefined : readText(isAbsolute(path) ? path : join(folder, path))
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `cannot read ${path}`, cause })
  }
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}
}

function listOf(members: Members, name: string): readonly Members[] {
  const value = members[name]
  return Array.isArray(value) ? value.map(membersOf) : []
}

/** An empty text counts as absent. */
function textOf(members: Members, name: string): string | undefined {
  const value = Object.hasOwn(members, name) ? members[name] : undefined
  return typeof value === 'string' && value !== '' ? value : undefined
}

function invalid(path: string, what: string): CliError {
  return new CliError({ code: 'InvalidFlag', message: `webhook credentials: ${path}: ${what}` })
}
