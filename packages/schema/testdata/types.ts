import { readdirSync, readFileSync } from 'node:fs'
import { createTypeSource, type FactsSource } from '../src/model/type-source.ts'

/** The types of `model/`, for tests. */
export function testTypes(): FactsSource {
  const folder = new URL('./model/', import.meta.url)
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
  return createTypeSource(Object.fromEntries(files.map((name) => [name.slice(0, -5), readFileSync(new URL(name, folder), 'utf8')])))
}

const shared = new URL('../../../../shared/', import.meta.url)

/** All facts of the shared folder; `undefined` when it is absent. */
export function sharedTypes(): FactsSource | undefined {
  const folder = new URL('model/', shared)
  const names = namesIn(folder).filter((name) => name.endsWith('.json'))
  if (names.length === 0) return undefined
  return createTypeSource(Object.fromEntries(names.map((name) => [name.slice(0, -5), readFileSync(new URL(name, folder), 'utf8')])))
}

/** Files of a subfolder of the shared folder; empty when it is absent. */
export function sharedFiles(folder: string): { readonly name: string; readonly bytes: Uint8Array }[] {
  const at = new URL(folder, shared)
  return namesIn(at).map((name) => ({ name, bytes: new Uint8Array(readFileSync(new URL(name, at))) }))
}

function namesIn(folder: URL): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}
