import { createThreeWayMergePatch, createThreeWayPatch } from '@krmkit/fieldmanager'
import { isJsonObject, type JsonObject } from '@krmkit/meta'
import { parseYaml } from '@krmkit/schema'
import { builtInType } from '../catalog.ts'
import type { ServedResource } from '../discovery.ts'
import { flagOf, isSet } from './arguments.ts'
import { printedName, type Session } from './session.ts'
import { statusError, TerminalError } from './terminal-error.ts'

/** Commands that write: create, apply, replace, patch, delete, scale, label, annotate. */

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

export async function create(session: Session): Promise<void> {
  const [type, name, extra] = session.given.words
  if (type !== undefined) {
    if (name === undefined || extra !== undefined)
      throw new TerminalError('usage: create namespace|configmap|serviceaccount NAME, or create -f editor')
    await createNamed(session, type, name)
    return
  }
  for (const { object, resource, path } of await session.manifestObjects()) {
    const created = await session.send<{ metadata: { name: string } }>({
      method: 'POST',
      path: `${path(false)}?${session.writeQuery('kubectl-create')}`,
      body: JSON.stringify(object),
    })
    report(session, resource, created.metadata.name, 'created')
  }
}

async function createNamed(session: Session, type: string, name: string): Promise<void> {
  const resource = await session.resource(type)
  const literals = session.given.flags.get('from-literal') ?? []
  if (!['namespaces', 'configmaps', 'serviceaccounts'].includes(resource.name))
    throw new TerminalError(`create ${type} needs a manifest: write it in the editor and use create -f editor`)
  const data = Object.fromEntries(literals.map(keyAndValue))
  const body = JSON.stringify({ metadata: { name }, ...(resource.name === 'configmaps' ? { data } : {}) })
  await session.send({ method: 'POST', path: `${session.pathOf(resource)}?${session.writeQuery('kubectl-create')}`, body })
  report(session, resource, name, 'created')
}

export async function apply(session: Session): Promise<void> {
  const isServerSide = isSet(session.given, 'server-side')
  for (const each of await session.manifestObjects())
    await (isServerSide ? applyOnServer(session, each) : applyHere(session, each))
}

type Manifest = Awaited<ReturnType<Session['manifestObjects']>>[number]

async function applyOnServer(session: Session, { object, resource, name, path }: Manifest): Promise<void> {
  const force = isSet(session.given, 'force-conflicts') ? { force: 'true' } : {}
  await session.send({
    method: 'PATCH',
    path: `${path(true)}?${session.writeQuery('kubectl', force)}`,
    contentType: 'application/apply-patch+yaml',
    body: JSON.stringify(object),
  })
  report(session, resource, name, 'serverside-applied')
}

/** Client-side apply: the difference to the last applied configuration, which an annotation keeps, as a patch. */
async function applyHere(session: Session, { object, resource, name, path }: Manifest): Promise<void> {
  const query = session.writeQuery('kubectl-client-side-apply')
  const user = session.user
  const { status, text } = await session.cluster.request({ path: path(true), ...(user === undefined ? {} : { user }) })
  const modified = withAnnotation(object)
  if (status === 404) {
    await session.send({ method: 'POST', path: `${path(false)}?${query}`, body: JSON.stringify(modified) })
    report(session, resource, name, 'created')
    return
  }
  if (status >= 300) throw statusError(text)
  const current = JSON.parse(text) as JsonObject
  const { metadata } = current as { metadata: { annotations?: Record<string, string> } }
  const original = JSON.parse(metadata.annotations?.[lastApplied] ?? '{}') as JsonObject
  const type = builtInType(resource)
  const versions = { original, modified, current }
  const patch = type === undefined ? createThreeWayMergePatch(versions) : createThreeWayPatch(type, versions)
  if (Object.keys(patch).length === 0) {
    report(session, resource, name, 'unchanged')
    return
  }
  const contentType = `application/${type === undefined ? 'merge' : 'strategic-merge'}-patch+json`
  await session.send({ method: 'PATCH', path: `${path(true)}?${query}`, contentType, body: JSON.stringify(patch) })
  report(session, resource, name, 'configured')
}

function withAnnotation(object: JsonObject): JsonObject {
  const metadata = isJsonObject(object.metadata) ? object.metadata : {}
  const annotations = isJsonObject(metadata.annotations) ? metadata.annotations : {}
  const { [lastApplied]: _, ...others } = annotations
  const bare = { ...object, metadata: { ...metadata, annotations: others } }
  return { ...object, metadata: { ...metadata, annotations: { ...others, [lastApplied]: `${JSON.stringify(bare)}\n` } } }
}

export async function replace(session: Session): Promise<void> {
  for (const { object, resource, name, path } of await session.manifestObjects()) {
    await session.send({
      method: 'PUT',
      path: `${path(true)}?${session.writeQuery('kubectl-replace')}`,
      body: JSON.stringify(object),
    })
    report(session, resource, name, 'replaced')
  }
}

const patchTypes: Readonly<Record<string, string>> = {
  strategic: 'strategic-merge-patch',
  merge: 'merge-patch',
  json: 'json-patch',
}

export async function patch(session: Session): Promise<void> {
  const { resource, name } = await session.object(session.given.words)
  const text = flagOf(session.given, 'patch')
  if (text === undefined) throw new TerminalError('must specify --patch (-p)')
  const type = flagOf(session.given, 'type') ?? 'strategic'
  const media = patchTypes[type]
  if (media === undefined) throw new TerminalError(`--type must be one of json, merge, strategic, not ${JSON.stringify(type)}`)
  const body = JSON.stringify(parseYaml(text).value)
  const path = `${session.pathOf(resource, name, flagOf(session.given, 'subresource'))}?${session.writeQuery('kubectl-patch')}`
  await session.send({ method: 'PATCH', path, contentType: `application/${media}+json`, body })
  report(session, resource, name, 'patched')
}

const propagation: Readonly<Record<string, string>> = {
  background: 'Background',
  orphan: 'Orphan',
  foreground: 'Foreground',
  true: 'Background',
  false: 'Orphan',
}

export async function remove(session: Session): Promise<void> {
  const { given } = session
  const targets =
    given.words.length === 0
      ? (await session.manifestObjects()).map(({ resource, name, path }) => ({ resource, names: [name], path: path(true) }))
      : await session.targets(given.words)
  const body = JSON.stringify({ propagationPolicy: propagation[flagOf(given, 'cascade') ?? 'background'] })
  for (const target of targets) {
    const { resource } = target
    const names = target.names.length > 0 ? target.names : await selectedNames(session, resource)
    for (const name of names) {
      const path = 'path' in target ? target.path : session.pathOf(resource, name)
      const isDryRun = session.dryRunText !== ''
      await session.send({ method: 'DELETE', path: `${path}${isDryRun ? '?dryRun=All' : ''}`, body })
      session.output.print(`${printedName(resource, name).replace('/', ' "')}" deleted${session.dryRunText}\n`)
    }
  }
}

async function selectedNames(session: Session, resource: ServedResource): Promise<string[]> {
  const labelSelector = flagOf(session.given, 'selector')
  if (labelSelector === undefined && !isSet(session.given, 'all'))
    throw new TerminalError('resource(s) were provided, but no name was specified; use --all for the whole collection')
  const query = labelSelector === undefined ? '' : `?${new URLSearchParams({ labelSelector })}`
  const { items } = await session.send<{ items: { metadata: { name: string } }[] }>({
    path: `${session.pathOf(resource)}${query}`,
  })
  return items.map(({ metadata }) => metadata.name)
}

export async function scale(session: Session): Promise<void> {
  const replicas = flagOf(session.given, 'replicas')
  if (replicas === undefined || !/^\d{1,9}$/.test(replicas))
    throw new TerminalError('the --replicas flag must be a number of at least 0')
  const { resource, name } = await session.object(session.given.words)
  const path = `${session.pathOf(resource, name, 'scale')}?${session.writeQuery('kubectl')}`
  const body = JSON.stringify({ spec: { replicas: Number(replicas) } })
  await session.send({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body })
  report(session, resource, name, 'scaled')
}

export function label(session: Session): Promise<void> {
  return setMetadata(session, 'labels', 'kubectl-label')
}

export function annotate(session: Session): Promise<void> {
  return setMetadata(session, 'annotations', 'kubectl-annotate')
}

/** Sets `key=value` and removes `key-`. */
async function setMetadata(session: Session, member: 'labels' | 'annotations', manager: string): Promise<void> {
  const isChange = (word: string) => /^[^/=]*(?:\/[^=]*)?=|-$/.test(word)
  const changes = session.given.words.filter(isChange)
  const words = session.given.words.filter((word) => !isChange(word))
  if (changes.length === 0) throw new TerminalError(`at least one ${member.slice(0, -1)} update is required: KEY=VALUE or KEY-`)
  for (const { resource, names } of await session.targets(words)) {
    for (const name of names.length > 0 ? names : await selectedNames(session, resource)) {
      const { metadata } = await session.send<{ metadata: Record<string, Record<string, string> | undefined> }>({
        path: session.pathOf(resource, name),
      })
      const taken = changes.find((word) => {
        const [key, value] = word.endsWith('-') ? [word, undefined] : keyAndValue(word)
        const current = metadata[member]?.[key]
        return value !== undefined && current !== undefined && current !== value
      })
      if (taken !== undefined && !isSet(session.given, 'overwrite'))
        throw new TerminalError(
          `'${keyAndValue(taken)[0]}' already has a value (${metadata[member]?.[keyAndValue(taken)[0]]}), and --overwrite is false`,
        )
      const values = Object.fromEntries(
        changes.map((word) => (word.endsWith('-') && !word.includes('=') ? [word.slice(0, -1), null] : keyAndValue(word))),
      )
      const path = `${session.pathOf(resource, name)}?${session.writeQuery(manager)}`
      await session.send({
        method: 'PATCH',
        path,
        contentType: 'application/merge-patch+json',
        body: JSON.stringify({ metadata: { [member]: values } }),
      })
      report(session, resource, name, member === 'labels' ? 'labeled' : 'annotated')
    }
  }
}

function keyAndValue(word: string): [string, string] {
  const at = word.indexOf('=')
  if (at === -1) throw new TerminalError(`expected KEY=VALUE, found ${word}`)
  return [word.slice(0, at), word.slice(at + 1)]
}

function report(session: Session, resource: ServedResource, name: string, what: string): void {
  session.output.print(`${printedName(resource, name)} ${what}${session.dryRunText}\n`)
}
