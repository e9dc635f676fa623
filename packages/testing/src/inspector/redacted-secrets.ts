import type { FrozenObject } from '@krmkit/apiserver/request-trace'

/** Replaces a value that the page does not show. */
export const redactedMark = '(redacted)'
/** Replaces a value that differs from the previous one. */
const changedMark = '(redacted, changed)'
/** Annotation that contains the whole object, including its values. */
const appliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

export function isSecret(object: FrozenObject | undefined): boolean {
  return object?.apiVersion === 'v1' && object.kind === 'Secret'
}

/**
 * Replaces the values of a Secret, and returns other objects as they are. @param before the state relative to which changes
 * are marked
 */
export function redactSecret<T extends FrozenObject | undefined>(object: T, before?: FrozenObject): T {
  if (object === undefined || !isSecret(object)) return object
  const secret = object as unknown as SecretContent
  const old = before as unknown as SecretContent | undefined
  const { annotations } = secret.metadata
  const applied = annotations?.[appliedAnnotation]
  const oldApplied = old?.metadata.annotations?.[appliedAnnotation]
  return {
    ...secret,
    ...redactedMember('data', secret, old),
    ...redactedMember('stringData', secret, old),
    ...(applied === undefined
      ? {}
      : {
          metadata: {
            ...secret.metadata,
            annotations: { ...annotations, [appliedAnnotation]: markOf(applied, oldApplied, old) },
          },
        }),
  } as unknown as T
}

interface SecretContent {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> }
  readonly data?: Readonly<Record<string, unknown>> | null
  readonly stringData?: Readonly<Record<string, unknown>> | null
}

function redactedMember(name: 'data' | 'stringData', secret: SecretContent, old: SecretContent | undefined): object {
  const values = secret[name]
  if (values === undefined || values === null) return {}
  const marks = Object.entries(values).map(([key, value]) => [key, markOf(value, old?.[name]?.[key], old)])
  return { [name]: Object.fromEntries(marks) }
}

function markOf(value: unknown, before: unknown, old: SecretContent | undefined): string {
  return old === undefined || before === undefined || before === value ? redactedMark : changedMark
}
