import { basename } from 'node:path'
import { isJsonObject, type JsonObject } from '@krmkit/meta'
import { decodeUntyped } from '@krmkit/schema'
import type { ManifestDocument, TextRange } from '@krmkit/schema/manifest'
import { documentsOf, type ManifestFile } from 'krmkit/validate'

/** The objects in a file of kustomize: inline patches, and the targets of patches. */

/** An object with a function that finds its members in the file. */
export interface InlineObject {
  readonly value: unknown
  range(path: string, part: 'name' | 'value'): TextRange
}

/** Whether a file is one of kustomize. */
export function isKustomization(path: string): boolean {
  return /^(?:kustomization\.ya?ml|Kustomization)$/.test(basename(path))
}

/** The objects of `patches`, `patchesStrategicMerge` and `patchesJson6902`; patches in files of their own are scanned like manifests. */
export function inlineObjects(file: ManifestFile, document: ManifestDocument): InlineObject[] {
  const { object: value } = decodeUntyped<JsonObject>(document.value, { collect: false })
  if (!isJsonObject(value)) return []
  const lists = ['patches', 'patchesStrategicMerge', 'patchesJson6902'] as const
  return lists.flatMap((list) => {
    const entries = value[list]
    if (!Array.isArray(entries)) return []
    return entries.flatMap((entry, i) => {
      const at = `${list}[${i}]`
      if (typeof entry === 'string') return patchObjects(file, document, { text: entry, at })
      if (!isJsonObject(entry)) return []
      const { patch, target } = entry
      const own = typeof patch === 'string' ? patchObjects(file, document, { text: patch, at: `${at}.patch` }) : []
      return isJsonObject(target) ? [...own, targetObject(document, target, `${at}.target`)] : own
    })
  })
}

/** The objects of an inline text; a file name has none. */
function patchObjects(
  file: ManifestFile,
  document: ManifestDocument,
  { text, at }: { readonly text: string; readonly at: string },
): InlineObject[] {
  if (!text.includes('\n')) return []
  const start = document.range(at, 'value')
  const block = findBlock(file.text.split('\n'), text)
  return documentsOf({ path: file.path, text }).flatMap((inner): InlineObject[] => {
    // Operations of a JSON patch are no objects.
    if (inner.kind !== 'document' || Array.isArray(inner.value)) return []
    return [
      {
        value: inner.value,
        range(path, part) {
          if (block === undefined) return start
          const { line, column, ...rest } = inner.range(path, part)
          return { ...start, ...rest, line: block.line + line, column: column + block.indent }
        },
      },
    ]
  })
}

/** Lines before a block of text, and its indentation; undefined for a text that the file does not show line by line. */
function findBlock(lines: readonly string[], text: string): { readonly line: number; readonly indent: number } | undefined {
  const wanted = text.replace(/\n+$/, '').split('\n')
  const [first = ''] = wanted
  for (let line = 1; line < lines.length; line++) {
    if (!/[|>][-+0-9]*\s*(?:#.*)?$/.test(lines[line - 1] ?? '')) continue
    const indent = (lines[line] ?? '').length - first.length
    if (indent < 0) continue
    const isSame = wanted.every((each, i) => each.trim() === '' || lines[line + i] === `${' '.repeat(indent)}${each}`)
    if (isSame) return { line, indent }
  }
  return undefined
}

/** A target names the version of the objects that the patch changes. */
function targetObject(document: ManifestDocument, { group, version, kind, name }: JsonObject, at: string): InlineObject {
  const prefix = typeof group === 'string' && group !== '' ? `${group}/` : ''
  const known = typeof version === 'string' && typeof kind === 'string'
  const value = known ? { apiVersion: `${prefix}${version}`, kind, metadata: { name: typeof name === 'string' ? name : '' } } : {}
  return { value, range: () => document.range(`${at}.version`, 'value') }
}
