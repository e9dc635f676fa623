import { isJsonObject, setMember } from '@krmkit/meta'
import { largeBodyBytes } from '@krmkit/registry'
import { parseJson } from '@krmkit/schema'
import { NumberLiteral } from '@krmkit/schema/json'
import type { RequestScope } from '../request-scope.ts'
import type { BodyEncoding } from './request-body.ts'

/** Numbers of JSON that Go reads as floats although they have no fraction, for the validation of custom resources. */

const floats = /[0-9](?:\.0+(?![0-9])|[eE])/

/**
 * The members that a body or a patch sets, parsed with literals when they are first needed.
 *
 * @returns undefined without such numbers, and for large bodies, which are not read twice.
 */
export function sentFloats(
  { definition }: RequestScope,
  { bytes, encoding }: { readonly bytes: Uint8Array; readonly encoding: BodyEncoding | 'json-patch' },
): (() => unknown) | undefined {
  const isJson = encoding === 'json' || encoding === 'json-patch'
  if (definition.custom === undefined || !isJson || bytes.byteLength > largeBodyBytes) return undefined
  if (!floats.test(new TextDecoder().decode(bytes))) return undefined
  let sent: { readonly value: unknown } | undefined
  return () => {
    sent ??= { value: parsed(bytes, encoding === 'json-patch') }
    return sent.value
  }
}

function parsed(bytes: Uint8Array, isJsonPatch: boolean): unknown {
  const { value } = parseJson(bytes, { literals: true })
  return isJsonPatch ? membersSet(value) : value
}

/** The members that the operations of a JSON patch set, as a tree. Items that later operations move are not followed. */
function membersSet(operations: unknown): object {
  const root: Record<string, unknown> = {}
  for (const { op, path, value } of operations as { op?: unknown; path?: unknown; value?: unknown }[]) {
    if (typeof path !== 'string' || (op !== 'add' && op !== 'replace')) continue
    const members = path.split('/').slice(1)
    const last = members.pop()
    if (last === undefined) continue
    let at = root
    for (const member of members.map(unescaped)) {
      const next: unknown = Object.hasOwn(at, member) ? at[member] : undefined
      const inner = isTree(next) ? next : {}
      setMember(at, member, inner)
      at = inner
    }
    setMember(at, unescaped(last), value)
  }
  return root
}

function isTree(value: unknown): value is Record<string, unknown> {
  return isJsonObject(value) && !(value instanceof NumberLiteral)
}

function unescaped(member: string): string {
  return member.replaceAll('~1', '/').replaceAll('~0', '~')
}
