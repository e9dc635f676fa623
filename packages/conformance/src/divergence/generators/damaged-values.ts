import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonValue } from '@krmkit/meta'
import type { Schema } from './schemas.ts'

/** Changes a value so that it breaks its schema, is pruned, or stays valid; in place. */
export function damageValue(value: JsonValue, random: RandomChoices): void {
  const places = [...placesOf(value)]
  if (places.length === 0) return
  const { holder, key } = random.pick(places)
  const odd = random.pick<JsonValue>([
    null,
    '',
    'A',
    'x'.repeat(70),
    '2024-13-01',
    'é',
    0,
    -1,
    3,
    1000,
    2.5,
    1e20,
    9007199254740992,
    true,
    [],
    {},
    ['a', 'a'],
    [1, 1],
    [null],
    { a: null },
    { name: 'a' },
    [{ name: 'a' }, { name: 'a' }],
    '50%',
    { '': 1 },
    '123',
    [[1]],
    4294967296,
  ]) // prettier-ignore
  if (Array.isArray(holder)) {
    if (random.chance(30)) holder.push(structuredClone(holder[Number(key)] ?? null))
    else if (random.chance(20)) holder.splice(Number(key), 1)
    else holder[Number(key)] = odd
    return
  }
  switch (random.below(6)) {
    case 0:
      delete holder[key]
      return
    case 1:
      holder[random.pick(['unknown', `${key}X`, 'name', 'Size', 'x.y'])] = odd
      return
    default:
      holder[key] = odd
  }
}

function* placesOf(value: JsonValue): Generator<{ holder: Schema | JsonValue[]; key: string }> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, item] of Object.entries(value)) {
    yield { holder: value as Schema | JsonValue[], key }
    yield* placesOf(item as JsonValue)
  }
}
