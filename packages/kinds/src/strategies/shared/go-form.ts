/** Values in messages, printed as Go prints them. */
import { compareCodePoints, type GoText, goQuote, goStrings, goText, joinFormatted } from '@krmkit/meta/go-text'
import { goIntOrString, type IntOrString } from '@krmkit/meta/int-or-string'
import type { LabelSelector } from '../../types/meta-v1.generated.ts'
import { isEmpty, isEmptyMap, isSet, type R } from './values.ts'

/** `map[string]string{"a":"b"}`; an absent map is `map[string]string(nil)`. */
export function goStringMap(map: Readonly<Record<string, string>> | null | undefined): string {
  if (!isSet(map)) return 'map[string]string(nil)'
  const members = joinFormatted(Object.keys(map).sort(compareCodePoints), (key) => `${goQuote(key)}:${goQuote(map[key] ?? '')}`)
  return `map[string]string{${members}}`
}

/** `core.Thing{A:"a", B:1}`; the values of `members` are already printed. */
export function goStruct(type: string, members: Readonly<Record<string, string>>): string {
  return `${type}{${Object.entries(members)
    .map(([name, text]) => `${name}:${text}`)
    .join(', ')}}`
}

/** `[]core.Thing{core.Thing{A:"a"}}`; an absent list is `[]core.Thing(nil)`. `members` are as those of `goStruct`. */
export function goStructs<T>(
  type: string,
  items: readonly T[] | null | undefined,
  members: (item: T) => Readonly<Record<string, string>>,
): string {
  return isSet(items) ? `[]${type}{${joinFormatted(items, (item) => goStruct(type, members(item)))}}` : `[]${type}(nil)`
}

/** `[]string{"a"}`; an absent list is `[]string(nil)`. */
export function goStringList(values: readonly string[] | null | undefined): string {
  return isSet(values) ? goStrings(values) : '[]string(nil)'
}

/** A pointer inside of a printed struct: Go shows its type and an address, which is 0 here. */
export function goPointer(value: unknown, type: string): string {
  return `(*${type})(${isSet(value) ? '0x0' : 'nil'})`
}

/** A label selector, or null if absent. */
export function goSelector(selector: R<LabelSelector> | null | undefined): GoText | null {
  if (!isSet(selector)) return null
  const { matchLabels, matchExpressions } = selector
  const type = 'v1.LabelSelectorRequirement'
  const expressions = joinFormatted(matchExpressions ?? [], ({ key, operator, values }) => {
    const list = isEmpty(values) ? '[]string(nil)' : goStrings(values)
    return goStruct(type, { Key: goQuote(key ?? ''), Operator: goQuote(operator ?? ''), Values: list })
  })
  const labels = isEmptyMap(matchLabels) ? 'map[string]string(nil)' : goStringMap(matchLabels)
  const list = expressions === '' ? `[]${type}(nil)` : `[]${type}{${expressions}}`
  return goText(goStruct('v1.LabelSelector', { MatchLabels: labels, MatchExpressions: list }))
}

/** A number or string; absent prints as the number 0. */
export function goNumberOrText(value: IntOrString | null | undefined): GoText {
  return goIntOrString(value ?? 0)
}

/** `[]int32{1, 2}` and the like. */
export function goNumbers(type: string, values: readonly (number | bigint)[] | null | undefined): GoText {
  return goText(isSet(values) ? `[]${type}{${joinFormatted(values, String)}}` : `[]${type}(nil)`)
}

/** `[]core.PolicyType{"a", "b"}` and the like, of strings. */
export function goTexts(type: string, values: readonly string[] | null | undefined): GoText {
  return goText(isSet(values) ? `[]${type}{${joinFormatted(values, goQuote)}}` : `[]${type}(nil)`)
}

/** A list of strings as `%v` prints it: `[a b]`. */
export function goList(values: readonly string[]): string {
  return `[${values.join(' ')}]`
}
