import { shown } from '@krmkit/base/arguments'
import type { ApiObject } from '@krmkit/meta'
import { parseYaml } from '@krmkit/schema'
import { TestingError } from './testing-error.ts'

/** An object to create, with its source text. */
export interface Manifest {
  readonly object: ApiObject
  /** Sent unchanged, so that the server reports errors. */
  readonly text: string
  readonly contentType: 'application/yaml' | 'application/json'
  /** Origin, for error messages. */
  readonly source: string
}

/** A file of manifests. */
export interface ManifestFile {
  readonly path: string
  readonly text: string
}

/**
 * Reads the objects of a seed, in order. Lists are replaced by their items.
 *
 * @param readFiles reads a file, or the files of a folder
 * @throws TestingError `InvalidSeed`
 */
export async function readManifests(
  seed: string | readonly (string | ApiObject)[],
  readFiles: (path: string) => Promise<readonly ManifestFile[]>,
): Promise<Manifest[]> {
  const found: Manifest[] = []
  for (const [i, item] of (typeof seed === 'string' ? [seed] : seed).entries()) {
    if (typeof item === 'string') for (const file of await filesOf(item, readFiles)) found.push(...manifestsIn(file))
    else found.push(...manifestsOf(item, `seed[${i}]`))
  }
  return found
}

/** @throws TestingError `InvalidSeed` for a missing file */
async function filesOf(
  path: string,
  readFiles: (path: string) => Promise<readonly ManifestFile[]>,
): Promise<readonly ManifestFile[]> {
  try {
    return await readFiles(path)
  } catch (cause) {
    if (cause instanceof TestingError) throw cause
    const message = path.includes('\n')
      ? `\`seed\` takes paths and objects, not text of YAML: ${shown(path)}`
      : `\`seed\`: ${path} cannot be read: ${messageOf(cause)}`
    throw new TestingError({ code: 'InvalidSeed', message, cause })
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function manifestsIn({ path, text }: ManifestFile): Manifest[] {
  const documents = path.endsWith('.json') ? [text] : text.split(/^---(?=\s|$)/m)
  const manifests: Manifest[] = []
  for (const document of documents) {
    const object = parse(document, path)
    if (object === null) continue
    if (isList(object)) manifests.push(...manifestsOf(object, path))
    else manifests.push({ object: validated(object, path), text: document, contentType: 'application/yaml', source: path })
  }
  return manifests
}

function parse(text: string, source: string): unknown {
  try {
    return parseYaml(text).value
  } catch (cause) {
    throw new TestingError({
      code: 'InvalidSeed',
      message: `${source}: ${messageOf(cause)}`,
      cause,
    })
  }
}

function manifestsOf(value: unknown, source: string): Manifest[] {
  if (isList(value)) return value.items.flatMap((item, i) => manifestsOf(item, `${source}.items[${i}]`))
  const object = validated(value, source)
  return [{ object, text: JSON.stringify(object), contentType: 'application/json', source }]
}

function isList(value: unknown): value is { kind: string; items: unknown[] } {
  if (typeof value !== 'object' || value === null || !('kind' in value) || !('items' in value)) return false
  return typeof value.kind === 'string' && value.kind.endsWith('List') && Array.isArray(value.items)
}

function validated(value: unknown, source: string): ApiObject {
  const { apiVersion, kind, metadata } = (value ?? {}) as Partial<ApiObject>
  if (typeof apiVersion === 'string' && typeof kind === 'string' && typeof metadata === 'object' && metadata !== null) {
    return value as ApiObject
  }
  throw new TestingError({ code: 'InvalidSeed', message: `${source}: an object needs apiVersion, kind and metadata` })
}
