import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { isJsonObject, type JsonObject } from '@krmkit/meta'
import { readManifest } from '@krmkit/schema/manifest'

/** Complete definitions and their objects from YAML or JSON files. Nothing is copied into this repository. */

export interface WholeDefinition {
  readonly name: string
  readonly file: string
  readonly manifest: JsonObject
  readonly group: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
  readonly versions: readonly DefinedVersion[]
}

export interface DefinedVersion {
  readonly name: string
  readonly served: boolean
  readonly schema: JsonObject
}

/** An object of a kind of the definitions. */
export interface FoundObject {
  readonly file: string
  readonly object: JsonObject & { readonly apiVersion: string; readonly kind: string }
  readonly definition: WholeDefinition
}

export interface Found {
  readonly definitions: readonly WholeDefinition[]
  readonly objects: readonly FoundObject[]
}

/** The content of the files below the folders; the first of definitions with the same name wins. */
export function findDefinitions(folders: readonly string[]): Found {
  const definitions = new Map<string, WholeDefinition>()
  const others: { file: string; object: JsonObject }[] = []
  for (const file of folders.flatMap((folder) => [...filesBelow(folder)])) {
    for (const object of objectsOf(file)) {
      const found = wholeDefinition(file, object)
      if (found === undefined) others.push({ file, object })
      else if (!definitions.has(found.name)) definitions.set(found.name, found)
    }
  }
  const byKind = new Map([...definitions.values()].map((each) => [`${each.group}/${each.kind}`, each]))
  const objects = others.flatMap(({ file, object }) => {
    const definition = byKind.get(`${String(object.apiVersion).split('/')[0]}/${object.kind}`)
    return definition === undefined ? [] : [{ file, object: object as FoundObject['object'], definition }]
  })
  return { definitions: [...definitions.values()], objects }
}

/** A folder of an installed package; undefined when it is missing. */
export function packagedFolder(name: string, folder: string): string | undefined {
  try {
    const found = join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), folder)
    return existsSync(found) ? found : undefined
  } catch {
    return undefined
  }
}

function* filesBelow(folder: string): Generator<string> {
  const found = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const each of found) {
    const path = join(folder, each.name)
    if (each.isDirectory() && each.name !== '.git' && each.name !== 'node_modules') yield* filesBelow(path)
    else if (each.isFile() && /\.(ya?ml|json)$/.test(each.name)) yield path
  }
}

/** Files that are not manifests (templates, configurations) have none. */
function objectsOf(file: string): JsonObject[] {
  const text = readFileSync(file, 'utf8')
  if (!/^\s*"?apiVersion"?:/m.test(text)) return []
  const documents = file.endsWith('.json') ? [parsedJson(text)] : readManifest(text).map(documentValue)
  return documents.flatMap((value) => (isJsonObject(value) && 'kind' in value ? [value] : []))
}

function documentValue(document: ReturnType<typeof readManifest>[number]): unknown {
  return document.kind === 'document' ? document.value : undefined
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function wholeDefinition(file: string, manifest: JsonObject): WholeDefinition | undefined {
  if (manifest.kind !== 'CustomResourceDefinition' || manifest.apiVersion !== 'apiextensions.k8s.io/v1') return undefined
  const { metadata, spec } = manifest as unknown as {
    metadata: { name?: string }
    spec?: {
      group: string
      scope: string
      names: { plural: string; kind: string }
      versions?: { name: string; served: boolean; schema?: { openAPIV3Schema?: JsonObject } }[]
    }
  }
  if (spec?.versions === undefined || metadata.name === undefined) return undefined
  const { group, scope, names, versions } = spec
  return {
    name: metadata.name,
    file,
    manifest,
    group,
    kind: names.kind,
    plural: names.plural,
    namespaced: scope === 'Namespaced',
    versions: versions.map(({ name, served, schema }) => ({ name, served, schema: schema?.openAPIV3Schema ?? {} })),
  }
}
