/** Rules that markers only name: functions of a field, by `folder/version.Type.field`. */
import { type FieldError, field, type Path } from '@krmkit/meta'

type CustomRule = (path: Path, value: unknown) => FieldError[]

const reservedSuffixes = ['.k8s.io', '.kubernetes.io']

/** Refuses names whose domain, the part before the slash, is reserved. */
const noReservedDomain: CustomRule = (path, value) => {
  const name = typeof value === 'string' ? value : ''
  const slash = name.indexOf('/')
  const domain = withoutDots((slash < 0 ? name : name.slice(0, slash)).toLowerCase().trim())
  const isReserved = reservedSuffixes.some((suffix) => domain.endsWith(suffix) || domain === suffix.slice(1))
  const listed = reservedSuffixes.map((suffix) => `*${suffix}`).join(', ')
  return isReserved ? [field.invalid(path, name, `domain names ${listed} are reserved`)] : []
}

function withoutDots(text: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === '.') end--
  return text.slice(0, end)
}

const reservedPriorities = 1000

const noReservedPriority: CustomRule = (path, value) => {
  const priority = Number(value ?? -1)
  if (priority < 0 || priority >= reservedPriorities) return []
  return [field.invalid(path, priority, 'priorities 0-999 are reserved for responders with *.k8s.io suffix')]
}

export const customRules: Readonly<Record<string, CustomRule>> = {
  'core/v1.EvictionResponder.name': noReservedDomain,
  'core/v1.EvictionResponder.priority': noReservedPriority,
  'lifecycle/v1alpha1.EvictionRequestSpec.requester': noReservedDomain,
}
