import { type Line, line } from './line-tree.ts'

/** The members of default roles and bindings that have a line. */
interface RoleObject {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> }
  readonly rules?: readonly object[] | null
  readonly aggregationRule?: object
  readonly roleRef?: object
  readonly subjects?: readonly object[]
}

/**
 * The default roles of a release as lines: a file, its objects, their labels, rules, role and subjects.
 *
 * @param files lists of objects by name of the file
 */
export function linesOfRoles(files: ReadonlyMap<string, unknown>): Line[] {
  return [...files].map(([name, list]) => line(name, (list as { items: readonly RoleObject[] }).items.map(lineOfObject)))
}

function lineOfObject({ kind, metadata, rules, aggregationRule, roleRef, subjects }: RoleObject): Line {
  const { name, namespace, labels } = metadata
  const one = (word: string, value: unknown) => (value === undefined ? [] : [line(`${word} ${JSON.stringify(value)}`)])
  const all = (word: string, values: readonly object[] | null | undefined) => (values ?? []).flatMap((value) => one(word, value))
  return line(`${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`, [
    ...one('labels', labels),
    ...one('aggregationRule', aggregationRule),
    ...one('roleRef', roleRef),
    ...all('subject', subjects),
    ...all('rule', rules),
  ])
}
