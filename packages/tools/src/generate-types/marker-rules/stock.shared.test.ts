import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Line } from '../../release-facts/line-tree.ts'
import { readModel, viewAt } from '../../release-facts/model.ts'
import { modelFolder } from '../../release-facts.ts'
import { ruleLines } from './rule-lines.ts'

/** Compares the rules with the functions that Kubernetes generates from the markers, where the module is in the cache of Go. */

const release = 37
const version = 'v1.37.2'

function moduleFolder(): string | undefined {
  try {
    const cache = execFileSync('go', ['env', 'GOMODCACHE'], { encoding: 'utf8' }).trim()
    const folder = join(cache, `k8s.io/kubernetes@${version}/pkg/apis`)
    return existsSync(folder) ? folder : undefined
  } catch {
    return undefined
  }
}

type Calls = Readonly<Record<string, readonly string[]>>

const formats: Readonly<Record<string, string>> = {
  ...{
    LongName: 'long-name',
    ShortName: 'short-name',
    LongNameCaseless: 'long-name-caseless',
    UUID: 'uuid',
    LabelKey: 'label-key',
  },
  ...{ ResourcePoolName: 'resource-pool-name', PrefixedLabelKey: 'prefixed-label-key', PathSegmentName: 'path-segment-name' },
  ...{ ExtendedResourceName: 'extended-resource-name', ResourceFullyQualifiedName: 'resource-fully-qualified-name' },
}

const shortCalls = /^(?:required|optional|forbidden|immutable|maxItems|update)\b/

/** The name of a call without the kind of its value. */
function callName(name: string, arg: string): string {
  if (formats[name] !== undefined) return `format(k8s-${formats[name]})`
  const [, requiredness] = /^(Required|Optional|Forbidden)(?:Value|Pointer|Slice|Map)$/.exec(name) ?? []
  if (requiredness !== undefined) return requiredness.toLowerCase()
  if (name === 'ValSliceUnique') return 'unique'
  if (/Update/.test(name)) return 'update'
  if (name === 'ZeroOrOneOfUnion') return 'zeroOrOneOf'
  const plain = name.charAt(0).toLowerCase() + name.slice(1)
  return /^(?:max|min)/.test(plain) ? `${plain}(${arg})` : plain
}

/** The content of the parenthesis that opens before `start`, and what follows it. */
function splitCall(text: string, start: number): readonly [content: string, rest: string] {
  let depth = 1
  let i = start
  for (; depth > 0; i++)
    if (text[i] === '(') depth++
    else if (text[i] === ')') depth--
  return [text.slice(start, i - 1), text.slice(i, i + 60).split(';')[0]!]
}

const lastArg = (content: string) => content.slice(content.lastIndexOf(',') + 1).trim()

/** The function inside of a wrapper, such as `validate.LongName`, or a closure that calls one. */
function innerName(content: string): string {
  const found = [...content.matchAll(/validate\.(\w+)(?:\(ctx, op, fldPath, obj, oldObj((?:, [^()]*)?)\))?/g)].at(-1)!
  return callName(found[1]!, (found[2] ?? '').replace(/^, /, ''))
}

function callsOf(body: string): string[] {
  const calls: string[] = []
  for (const match of body.matchAll(/if e := (?:validate\.(\w+)|(?:\w+\.)?ValidateCustom_\w+)\(/g)) {
    const [content, rest] = splitCall(body, match.index + match[0].length)
    const level = rest.includes('MarkAlpha') ? '?' : rest.includes('MarkBeta') ? '%' : ''
    const name = match[1] ?? 'custom'
    const isIteration = /^Each/.test(name) && /Validate_\w+$/.test(content.trim())
    if (!isIteration) calls.push(level + callText(name, content))
  }
  return calls
}

function callText(name: string, content: string): string {
  if (name === 'custom') return name
  if (name === 'IfOption') {
    const [, option, isOn] = /"(\w+)",\s*(true|false)/.exec(content)!
    return `${isOn === 'true' ? 'on' : 'off'}(${option}:${innerName(content)})`
  }
  if (name === 'Subfield') return `sub(${/"(\w+)"/.exec(content)![1]}:${innerName(content)})`
  if (name === 'Discriminated') return 'mode'
  if (/^Each/.test(name)) return `${name === 'EachMapKey' ? 'key' : 'each'}(${innerName(content)})`
  return callName(name, lastArg(content))
}

/** Rules of the level alpha count where they end a field; that of an absent value goes without saying after `forbidden`. */
function counted(calls: readonly string[]): string[] {
  return calls
    .filter((call) => !call.startsWith('?') || shortCalls.test(call.slice(1)))
    .filter((call, i, all) => !/optional\)?$/.test(call) || all[i - 1] !== call.replace('optional', 'forbidden'))
}

/** Calls of types by field; those of the type itself have no name. */
function stockCalls(folder: string): Map<string, Calls> {
  const found = new Map<string, Calls>()
  const files = readdirSync(folder, { recursive: true }).map(String)
  for (const file of files.filter((name) => name.endsWith('/zz_generated.validations.go'))) {
    for (const [body, type] of readFileSync(join(folder, file), 'utf8').matchAll(/\nfunc Validate_(\w+)\([\s\S]*?\n\}\n/g)) {
      const [ofType = '', ...fields] = body.split(/\n\t\{ \/\/ field /)
      const calls: Record<string, readonly string[]> = { '': counted(callsOf(ofType)) }
      for (const text of fields) {
        const [, name] = /fn\(fldPath\.Child\("(\w+)"\)/.exec(text) ?? []
        if (name !== undefined) calls[name] = counted(callsOf(text))
      }
      found.set(`${dirname(file)}.${type}`, calls)
    }
  }
  return found
}

/** The calls of a line by field. */
function ownCalls({ lines }: Line): Calls {
  const calls: Record<string, readonly string[]> = { '': [] }
  for (const { text } of lines) {
    const [head, name = ''] = /^(\w*)\*?(?:\[[^\]]*\]|\{\})?/.exec(text)!
    const rest = text.slice(head.length).replace(/>[\w/.]+$/, '')
    const own =
      rest === ''
        ? []
        : rest
            .slice(1)
            .split(/[;|]/)
            .filter((call) => call !== '')
    calls[name] = own.map((call) => call.replace(/^([?%]?)(update|enum|union|zeroOrOneOf)\(.*\)$/, '$1$2'))
  }
  return calls
}

const folder = moduleFolder()
const isReported = (call: string) => !call.startsWith('?') && !/optional\)?$/.test(call)

describe.skipIf(folder === undefined)(`the rules of 1.${release} (needs k8s.io/kubernetes@${version} in the cache of Go)`, () => {
  it('are the calls of the generated functions, in their order', () => {
    const stock = stockCalls(folder!)
    const wrong: string[] = []
    let compared = 0
    for (const [group, versions] of ruleLines(viewAt(readModel(modelFolder), release).groups, release)) {
      for (const { text: at, lines } of versions) {
        for (const type of lines) {
          const name = `${group}${at}.${type.text.split(';')[0]}`
          const [own, theirs] = [ownCalls(type), stock.get(name) ?? {}]
          // The calls of modes contain others.
          const hasModes = type.lines[0]?.text.startsWith('=mode') === true
          for (const field of new Set([...Object.keys(own), ...Object.keys(theirs)])) {
            const [a, b] = [own[field] ?? [], theirs[field] ?? []]
            if (hasModes && field === '') continue
            const isSame = a.join(';') === b.join(';') || (a.length === 0 && !b.some(isReported))
            if (!isSame) wrong.push(`${name}.${field}: ${a.join(';')} instead of ${b.join(';')}`)
            compared++
          }
        }
      }
    }
    expect(wrong).toEqual([])
    expect(compared).toBeGreaterThan(500)
  })
})
