import { type NamingProfile, stockProfile } from '@krmkit/meta'
import { createTypeSource, type FactsSource } from '@krmkit/schema'
import type { TypeFacts } from '@krmkit/schema/model'
import { modelTexts } from '../catalog/model-texts.ts'
import { fieldLifecycles } from './fields.ts'
import { factMinor, minorOf } from './release-names.ts'
import { typesOfRelease } from './type-history.ts'

/** The first release whose types are known; those of earlier ones are its types without younger fields. */
const firstMinor = 21

/** From this release on, an unset creationTimestamp is not printed; before, it is null. */
const firstMinorWithoutNullTime = 34

function withoutNullTime(facts: TypeFacts): TypeFacts {
  const fields = facts.fields?.map(({ zero, ...field }) =>
    zero === undefined || field.json === 'creationTimestamp' ? field : { ...field, zero },
  )
  return { ...facts, fields: fields ?? [] }
}

/** Fields that a release lacks, by `folder.Type field`: all versions of a type. */
function absentFields(minor: number): ReadonlySet<string> {
  const absent = fieldLifecycles().filter(({ introduced, removed }) => {
    return factMinor(introduced) > minor || (removed !== undefined && factMinor(removed) <= minor)
  })
  return new Set(absent.map(({ type, field }) => `${withoutVersion(type)} ${field}`))
}

/** `core/v1.Pod` becomes `core.Pod`. */
export function withoutVersion(type: string): string {
  return `${type.slice(0, type.indexOf('/'))}${type.slice(type.lastIndexOf('.'))}`
}

/**
 * The types of a release. Versions that are younger than the release are not listed, but have their types, since objects may be stored in them:
 * without the fields that older versions get later.
 *
 * @throws KindsError `UnknownRelease`
 * @example
 * import { typesAt } from '@krmkit/kinds/releases'
 * typesAt('1.23').struct('batch/v1.CronJobSpec').field.has('timeZone') // false
 * typesAt('1.24').struct('batch/v1.CronJobSpec').field.has('timeZone') // true
 */
export function typesAt(release: string, profile: NamingProfile = stockProfile): FactsSource {
  const minor = minorOf(release)
  const { texts, isLater } = typesOfRelease(Math.max(minor, firstMinor), modelTexts(profile), profile)
  const isYounger = (type: string) => isLater(type) || isLater(type.slice(0, type.lastIndexOf('.')))
  let known: ReadonlySet<string> | undefined
  return createTypeSource(texts, {
    revise(type, stated) {
      const facts = minor >= firstMinorWithoutNullTime && type === 'meta/v1.ObjectMeta' ? withoutNullTime(stated) : stated
      if (facts.fields === undefined || (minor >= firstMinor && !isYounger(type))) return facts
      known ??= absentFields(minor)
      const absent = known
      return { ...facts, fields: facts.fields.filter(({ json }) => !absent.has(`${withoutVersion(type)} ${json}`)) }
    },
    omitVersion: (folder, version) => isLater(`${folder}/${version}`),
  })
}
