import type { RandomChoices } from '@krmkit/base/random-choices'
import type { RawHeader } from '../attacks/harness/http1.ts'

/** Identity headers: mostly as sent by stock clients, sometimes malformed. */

const header = (name: string, value: string): RawHeader => [name, Buffer.from(value)]
const admin = header('authorization', 'Bearer admin-token-0123456789')
const alice = header('authorization', 'Bearer alice-token-0123456789')
const carol = header('authorization', 'Bearer carol-token-0123456789')

const lists: readonly (readonly RawHeader[])[] = [
  [],
  [alice],
  [carol],
  [header('authorization', 'Bearer junk-token')],
  [header('authorization', 'Basic YWRtaW46eA==')],
  [admin, header('impersonate-user', 'erin'), header('impersonate-group', 'g1')],
  [admin, header('impersonate-user', 'system:anonymous')],
  [admin, header('impersonate-group', 'system:masters')],
  [admin, header('impersonate-user', 'erin'), header('impersonate-extra-a', 'b'), header('impersonate-uid', 'u')],
  [alice, header('impersonate-user', 'admin')],
  [alice, header('x-remote-user', 'admin'), header('x-remote-group', 'system:masters')],
  [header('x-remote-user', 'admin'), header('x-remote-group', 'system:masters')],
]

const malformations: readonly ((value: Uint8Array, random: RandomChoices) => Uint8Array)[] = [
  (value) => Buffer.concat([value, Buffer.from(' ')]),
  (value) => Buffer.concat([Buffer.from('\t'), value]),
  (value, random) => Buffer.concat([value, Buffer.from([random.below(32)])]),
  (value, random) => Buffer.concat([Buffer.from([random.below(32)]), value]),
  (value) => Buffer.concat([value, Buffer.from([0x7f])]),
  (value) => Buffer.concat([value, Buffer.from([0xff, 0xfe])]),
  (value) => Buffer.concat([value, Buffer.from('é')]),
  () => Buffer.alloc(0),
]

export function identityHeaders(random: RandomChoices): readonly RawHeader[] {
  if (random.chance(70)) return [admin]
  const list = random.pick(lists)
  if (list.length === 0 || random.chance(60)) return list
  const at = random.below(list.length)
  if (random.chance(30)) return [...list, list[at] ?? admin]
  return list.map(([name, value], i) => (i === at ? [name, random.pick(malformations)(value, random)] : [name, value]))
}
