import type { JsonObject } from '@krmkit/meta'
import { apiVersionOf, type ServedResource } from '../discovery.ts'
import { flagOf, isSet } from './arguments.ts'
import { objectText, type Table, type TableOptions, tableText } from './print.ts'
import { printedName, type Session, type Target } from './session.ts'
import { statusError, TerminalError } from './terminal-error.ts'

/** Commands that read: get, describe, events, api-resources, api-versions, version. */

const tableType = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'

export async function get(session: Session): Promise<void> {
  const { given } = session
  const [first, ...rest] = given.words
  const targets = first === 'all' ? await allTargets(session) : await session.targets(given.words)
  const isMany = targets.length > 1
  const format = flagOf(given, 'output') ?? ''
  if (first === 'all' && rest.length > 0) throw new TerminalError('all takes no names')
  let printed = false
  for (const target of targets) {
    if (isSet(given, 'watch') || isSet(given, 'watch-only')) await watch(session, target)
    else if (format === '' || format === 'wide') printed = (await printTables(session, target, { isMany, printed })) || printed
    else await printObjects(session, target, format)
  }
  if (!printed && (format === '' || format === 'wide') && !isSet(given, 'watch') && !isSet(given, 'watch-only')) {
    const isAll = isSet(given, 'all-namespaces') || targets.every(({ resource }) => !resource.namespaced)
    session.output.warn(isAll ? 'No resources found' : `No resources found in ${session.namespace} namespace.`)
  }
}

async function allTargets(session: Session): Promise<Target[]> {
  const resources = await session.resources()
  return resources.filter(({ categories }) => categories.includes('all')).map((resource) => ({ resource, names: [] }))
}

function queryOf({ given }: Session): string {
  const query = new URLSearchParams()
  for (const [flag, name] of [
    ['selector', 'labelSelector'],
    ['field-selector', 'fieldSelector'],
  ] as const) {
    const value = flagOf(given, flag)
    if (value !== undefined) query.set(name, value)
  }
  return query.toString()
}

/** Prints the table of a collection, or of each named object. @returns whether it has rows */
async function printTables(
  session: Session,
  { resource, names }: Target,
  { isMany, printed }: { isMany: boolean; printed: boolean },
): Promise<boolean> {
  const options = tableOptions(session, resource)
  const paths =
    names.length === 0 ? [`${session.pathOf(resource)}?${queryOf(session)}`] : names.map((name) => session.pathOf(resource, name))
  const rows = []
  let table: Table | undefined
  for (const path of paths) {
    table = await session.send<Table>({ path, accept: tableType })
    rows.push(...(table.rows ?? []))
  }
  if (table === undefined || rows.length === 0) return false
  if (isMany) for (const row of rows) (row.cells as string[])[0] = printedName(resource, String(row.cells[0]))
  session.output.print(`${isMany && printed ? '\n' : ''}${tableText({ ...table, rows }, options)}`)
  return true
}

function tableOptions({ given }: Session, { namespaced }: ServedResource): TableOptions {
  return {
    wide: flagOf(given, 'output') === 'wide',
    namespaces: namespaced && isSet(given, 'all-namespaces'),
    labels: isSet(given, 'show-labels'),
    headers: !isSet(given, 'no-headers'),
  }
}

async function printObjects(session: Session, { resource, names }: Target, format: string): Promise<void> {
  const managedFields = isSet(session.given, 'show-managed-fields')
  if (names.length === 0) {
    const list = await session.send<{ items: JsonObject[] }>({ path: `${session.pathOf(resource)}?${queryOf(session)}` })
    const items = list.items.map((item) => ({ apiVersion: apiVersionOf(resource), kind: resource.kind, ...item }))
    if (format === 'name') for (const item of items) session.output.print(`${printedName(resource, nameOf(item))}\n`)
    else session.output.print(objectText({ apiVersion: 'v1', kind: 'List', items, metadata: {} }, format, { managedFields }))
    return
  }
  for (const name of names) {
    const object = await session.send({ path: session.pathOf(resource, name, flagOf(session.given, 'subresource')) })
    session.output.print(format === 'name' ? `${printedName(resource, name)}\n` : objectText(object, format, { managedFields }))
  }
}

function nameOf(object: JsonObject): string {
  return (object as { metadata?: { name?: string } }).metadata?.name ?? ''
}

/** Prints rows as they change, until the command is stopped. */
async function watch(session: Session, { resource, names }: Target): Promise<void> {
  const query = new URLSearchParams(queryOf(session))
  const [name] = names
  if (name !== undefined) query.set('fieldSelector', `metadata.name=${name}`)
  const path = session.pathOf(resource)
  const options = tableOptions(session, resource)
  const list = await session.send<Table>({ path: `${path}?${query}`, accept: tableType })
  const definitions = list.columnDefinitions
  if (!isSet(session.given, 'watch-only') && (list.rows ?? []).length > 0) session.output.print(tableText(list, options))
  query.set('watch', 'true')
  query.set('resourceVersion', list.metadata?.resourceVersion ?? '0')
  const user = session.user
  const request = { path: `${path}?${query}`, accept: tableType, signal: session.signal, ...(user === undefined ? {} : { user }) }
  try {
    for await (const line of session.cluster.lines(request)) {
      const { type, object } = JSON.parse(line) as { type: string; object: Table }
      if (type === 'ERROR') throw statusError(JSON.stringify(object))
      if (type !== 'BOOKMARK')
        session.output.print(tableText({ ...object, columnDefinitions: definitions }, { ...options, headers: false }))
    }
  } catch (error) {
    if (!session.signal.aborted) throw error
  }
}

/** Prints an object with its events, shorter than kubectl does. */
export async function describe(session: Session): Promise<void> {
  for (const { resource, names } of await session.targets(session.given.words)) {
    for (const name of names.length > 0 ? names : await namesOf(session, resource)) {
      const object = await session.send<JsonObject & { metadata: JsonObject }>({ path: session.pathOf(resource, name) })
      const { name: _, namespace, labels, annotations, creationTimestamp, managedFields: __, ...meta } = object.metadata
      const { apiVersion, kind, metadata: ___, ...content } = object
      const head = [
        ['Name:', name],
        ...(namespace === undefined ? [] : [['Namespace:', String(namespace)]]),
        ['Kind:', `${String(kind)} (${String(apiVersion)})`],
        ['Labels:', pairs(labels)],
        ['Annotations:', pairs(annotations)],
        ['Created:', String(creationTimestamp ?? '')],
      ]
      session.output.print(head.map(([key = '', value = '']) => `${key.padEnd(14)}${value}\n`).join(''))
      session.output.print(objectText({ ...content, metadata: meta }, 'yaml', { managedFields: false }))
      if (resource.namespaced) await printEvents(session, `involvedObject.name=${name},involvedObject.kind=${resource.kind}`)
    }
  }
}

function pairs(map: unknown): string {
  const entries = Object.entries((map ?? {}) as Record<string, string>)
  return entries.length === 0 ? '<none>' : entries.map(([key, value]) => `${key}=${value}`).join(`\n${' '.repeat(14)}`)
}

async function namesOf(session: Session, resource: ServedResource): Promise<string[]> {
  const { items } = await session.send<{ items: JsonObject[] }>({ path: session.pathOf(resource) })
  return items.map(nameOf)
}

async function printEvents(session: Session, fieldSelector: string): Promise<void> {
  const resource = await session.resource('events')
  const path = `${session.pathOf(resource)}?${new URLSearchParams({ fieldSelector })}`
  const table = await session.send<Table>({ path, accept: tableType })
  if ((table.rows ?? []).length === 0) session.output.print('Events:       <none>\n')
  else session.output.print(`Events:\n${tableText(table, { wide: false, namespaces: false, labels: false, headers: true })}`)
}

export async function events(session: Session): Promise<void> {
  const target = { resource: await session.resource('events'), names: [] }
  if (isSet(session.given, 'watch')) await watch(session, target)
  else if (!(await printTables(session, target, { isMany: false, printed: false })))
    session.output.warn(`No events found in ${session.namespace} namespace.`)
}

export async function apiResources(session: Session): Promise<void> {
  const group = flagOf(session.given, 'api-group')
  const found = (await session.resources()).filter((each) => group === undefined || each.group === group)
  const rows = found.map((each) => [each.name, each.shortNames.join(','), apiVersionOf(each), String(each.namespaced), each.kind])
  const columnDefinitions = ['name', 'shortnames', 'apiversion', 'namespaced', 'kind'].map((name) => ({ name }))
  const options = { wide: true, namespaces: false, labels: false, headers: true }
  session.output.print(tableText({ columnDefinitions, rows: rows.map((cells) => ({ cells })) }, options))
}

export async function apiVersions(session: Session): Promise<void> {
  const versions = new Set((await session.resources()).map(apiVersionOf))
  session.output.print(
    [...versions]
      .sort()
      .map((version) => `${version}\n`)
      .join(''),
  )
}

export async function version(session: Session): Promise<void> {
  const { gitVersion } = await session.send<{ gitVersion: string }>({ path: '/version' })
  session.output.print(`Server Version: ${gitVersion}\n`)
}
