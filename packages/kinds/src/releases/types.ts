import { type NamingProfile, stockProfile } from '@krmkit/meta'
import { createTypeSource, type FactsSource } from '@krmkit/schema'
import type { TypeFacts } from '@krmkit/schema/model'
import { modelTexts } from '../catalog/model-texts.ts'
import { fieldLifecycles } from './fields.ts'
import { podSecurityPolicyTypes } from './pod-security-policy.ts'
import { factMinor, minorOf } from './release-names.ts'
import { earlierEnumerations, earlierFields, earlierStructs, laterVersions } from './type-changes.ts'

/** The types of a release: those of the newest one without younger fields, and with the types that were removed since. */

/** Fields by `folder.Type field`: all versions of a type have them. */
function fieldIndex(isAbsent: (introduced: string, removed: string | undefined) => boolean): ReadonlySet<string> {
  const absent = fieldLifecycles().filter(({ introduced, removed }) => isAbsent(introduced, removed))
  return new Set(absent.map(({ type, field }) => `${withoutVersion(type)} ${field}`))
}

/** `core/v1.Pod` becomes `core.Pod`. */
export function withoutVersion(type: string): string {
  return `${type.slice(0, type.indexOf('/'))}${type.slice(type.lastIndexOf('.'))}`
}

/**
 * The types of a release.
 *
 * @throws KindsError `UnknownRelease`
 * @example
 * import { typesAt } from '@krmkit/kinds/releases'
 * typesAt('1.23').struct('batch/v1.CronJobSpec').field.has('timeZone') // false
 * typesAt('1.24').struct('batch/v1.CronJobSpec').field.has('timeZone') // true
 */
export function typesAt(release: string, profile: NamingProfile = stockProfile): FactsSource {
  const minor = minorOf(release)
  const absent = fieldIndex((introduced, removed) => {
    return factMinor(introduced) > minor || (removed !== undefined && factMinor(removed) <= minor)
  })
  const texts = modelTexts(profile)
  const files = { ...texts, policy: withPolicies(texts, 'policy'), extensions: withPolicies(texts, 'extensions') }
  const isLater = (since: string | undefined) => since !== undefined && factMinor(since) > minor
  return createTypeSource(files, {
    revise: (type, facts) => typeAt(facts, { name: withoutVersion(type), absent, isLater }),
    omitValue: (enumeration, value) => isLater(earlierEnumerations[`${withoutVersion(enumeration)} ${value}`]),
    omitVersion: (folder, version) => isLater(laterVersions[`${folder}/${version}`]),
  })
}

interface TypeAt {
  readonly name: string
  readonly absent: ReadonlySet<string>
  readonly isLater: (since: string | undefined) => boolean
}

function typeAt(facts: TypeFacts, { name, absent, isLater }: TypeAt): TypeFacts {
  const struct = earlierStructs[name]
  const fields = facts.fields
    ?.filter(({ json }) => !absent.has(`${name} ${json}`))
    .map((field) => {
      const change = earlierFields[`${name} ${field.json}`]
      return change !== undefined && isLater(change.since) ? { ...field, ...change.before } : field
    })
  return {
    ...facts,
    ...(fields === undefined ? {} : { fields }),
    ...(struct !== undefined && isLater(struct.since) ? struct.before : {}),
  }
}

function withPolicies(texts: Readonly<Record<string, string>>, folder: 'policy' | 'extensions'): string {
  return `${texts[folder]}\n/v1beta1 k8s.io/api/${folder}/v1beta1\n${podSecurityPolicyTypes}`
}
