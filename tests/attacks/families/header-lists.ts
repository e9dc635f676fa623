import type { RandomChoices } from '@krmkit/base/random-choices'
import type { Family } from '../harness/family.ts'
import { type RawAnswer, type RawHeader, sendHttp1 } from '../harness/http1.ts'
import { RawHttp2 } from '../harness/http2.ts'
import { type AttackedProcess, startAttackedProcess } from '../harness/server-process.ts'
import { expectedIdentity, type HeaderCase, type Identity, judgeIdentity, type Shown, type Transport } from './header-rules.ts'

/**
 * Lists of identity headers with all kinds of defects, over raw HTTP/1.1 and HTTP/2. A request runs as the user of the rules or
 * is rejected.
 */

const review = Buffer.from(JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }))
const target = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const bytes = (text: string): Buffer => Buffer.from(text, 'utf8')

interface Scenario {
  readonly name: string
  readonly shown: Shown
  readonly headers: readonly (readonly [name: string, value: string])[]
}

const admin = ['authorization', 'Bearer admin-token-0123456789'] as const
const alice = ['authorization', 'Bearer alice-token-0123456789'] as const

/** Well-formed lists. */
const scenarios: readonly Scenario[] = [
  { name: 'a token', shown: 'none', headers: [alice] },
  { name: 'an administrator', shown: 'none', headers: [admin] },
  { name: 'an impersonated user', shown: 'none', headers: [admin, ['impersonate-user', 'erin']] },
  {
    name: 'an impersonated user of groups',
    shown: 'none',
    headers: [admin, ['impersonate-user', 'erin'], ['impersonate-group', 'g1'], ['impersonate-group', 'g2']],
  },
  {
    name: 'an impersonated user with uid and extra',
    shown: 'none',
    headers: [admin, ['impersonate-user', 'erin'], ['impersonate-uid', 'u1'], ['impersonate-extra-scope', 'view']],
  },
  { name: 'impersonation without rights', shown: 'none', headers: [alice, ['impersonate-user', 'admin']] },
  { name: 'groups without a user', shown: 'none', headers: [admin, ['impersonate-group', 'g1']] },
  { name: 'a certificate', shown: 'bob', headers: [] },
  { name: 'a certificate with an impersonated user', shown: 'bob', headers: [['impersonate-user', 'admin']] },
  {
    name: 'a user of the proxy',
    shown: 'proxy',
    headers: [
      ['x-remote-user', 'frank'],
      ['x-remote-group', 'p1'],
      ['x-remote-group', 'p2'],
    ],
  },
  {
    name: 'a user of the proxy with uid and extra',
    shown: 'proxy',
    headers: [
      ['x-remote-user', 'frank'],
      ['x-remote-uid', 'u'],
      ['x-remote-extra-scope', 'view'],
    ],
  },
  {
    name: 'headers of a proxy without its certificate',
    shown: 'none',
    headers: [alice, ['x-remote-user', 'admin'], ['x-remote-group', 'system:masters']],
  },
  {
    name: 'headers of a proxy with a certificate of another authority',
    shown: 'stranger',
    headers: [['x-remote-user', 'admin']],
  },
]

/** Mutations of one value. */
const valueChanges: Readonly<Record<string, (value: Buffer) => Buffer>> = {
  'as it is': (value) => value,
  empty: () => Buffer.alloc(0),
  'a space before': (value) => Buffer.concat([bytes(' '), value]),
  'a space behind': (value) => Buffer.concat([value, bytes(' ')]),
  'a tab before': (value) => Buffer.concat([bytes('\t'), value]),
  'a tab behind': (value) => Buffer.concat([value, bytes('\t')]),
  'a space within': (value) => Buffer.concat([value.subarray(0, -1), bytes(' '), value.subarray(-1)]),
  'only spaces': () => bytes('   '),
  'characters beyond ASCII': (value) => Buffer.concat([value, bytes('é\u{1f600}')]),
  'bytes that are not UTF-8': (value) => Buffer.concat([value, Buffer.from([0xff, 0xc0, 0x80])]),
  'a no-break space behind': (value) => Buffer.concat([value, Buffer.from([0xa0])]),
  'a comma': (value) => Buffer.concat([value, bytes(',admin')]),
  'a long value': (value) => Buffer.concat([value, Buffer.alloc(40_000, 0x78)]),
  'a huge value': (value) => Buffer.concat([value, Buffer.alloc(1_200_000, 0x78)]),
  ...controlCharacters(),
}

function controlCharacters(): Record<string, (value: Buffer) => Buffer> {
  const changes: Record<string, (value: Buffer) => Buffer> = {}
  for (const code of [...Array(9).keys(), 10, 11, 12, 13, ...Array.from({ length: 18 }, (_, i) => 14 + i), 127]) {
    const name = `0x${code.toString(16).padStart(2, '0')}`
    const one = Buffer.from([code])
    changes[`${name} before`] = (value) => Buffer.concat([one, value])
    changes[`${name} behind`] = (value) => Buffer.concat([value, one])
    changes[`${name} within`] = (value) => Buffer.concat([value.subarray(0, 2), one, value.subarray(2)])
  }
  return changes
}

type Header = readonly [name: string, value: Buffer]

/** Mutations of a list around the header at an index. */
const listChanges: Readonly<Record<string, (headers: readonly Header[], at: number) => readonly Header[]>> = {
  alone: (headers) => headers,
  'repeated with another value behind': (headers, at) => [...headers, [headers[at]?.[0] ?? '', bytes('admin')]],
  'repeated with another value before': (headers, at) => [[headers[at]?.[0] ?? '', bytes('admin')], ...headers],
  'repeated as it is': (headers, at) => [...headers, headers[at] ?? ['', bytes('')]],
  'in upper case': (headers, at) => headers.map((each, i) => (i === at ? [each[0].toUpperCase(), each[1]] : each)),
  'with an underscore': (headers, at) => headers.map((each, i) => (i === at ? [each[0].replace('-', '_'), each[1]] : each)),
  'with a space in the name': (headers, at) => headers.map((each, i) => (i === at ? [`${each[0]} `, each[1]] : each)),
  'in the other order': (headers) => [...headers].reverse(),
  ...Object.fromEntries(
    [1, 10, 150, 400, 990, 997, 999, 1000, 1001, 2000, 3000].flatMap((count) => {
      const padding: readonly Header[] = Array.from({ length: count }, (_, i) => [`x-pad-${i}`, bytes('1')] as const)
      return [
        [`behind ${count} others`, (headers: readonly Header[]) => [...padding, ...headers]],
        [`before ${count} others`, (headers: readonly Header[]) => [...headers, ...padding]],
      ]
    }),
  ),
  'with 150 groups': (headers) => [...headers, ...manyGroups(150)],
  'with 2000 groups': (headers) => [...headers, ...manyGroups(2000)],
}

function manyGroups(count: number): Header[] {
  return Array.from({ length: count }, (_, i) => ['impersonate-group', bytes(`group-${i}-of-many`)] as const)
}

/** Every scenario with every mutation of one value and of the list, and a sample of combinations. */
export function* headerCases(transports: readonly Transport[], random: RandomChoices, combined: number): Generator<HeaderCase> {
  for (const transport of transports) {
    for (const scenario of scenarios) {
      const headers = scenario.headers.map(([name, value]): Header => [name, bytes(value)])
      const made = (name: string, list: readonly Header[]): HeaderCase => ({
        name: `${transport}: ${scenario.name}, ${name}`,
        transport,
        shown: scenario.shown,
        headers: list as readonly RawHeader[],
      })
      if (headers.length === 0) yield made('as it is', headers)
      for (const at of headers.keys()) {
        for (const [change, apply] of Object.entries(valueChanges))
          yield made(`${headers[at]?.[0]} ${change}`, changed(headers, at, apply))
        for (const [change, apply] of Object.entries(listChanges)) yield made(`${headers[at]?.[0]} ${change}`, apply(headers, at))
      }
      for (let i = 0; i < combined && headers.length > 0; i++) {
        const at = random.below(headers.length)
        const [value, applyValue] = random.pick(Object.entries(valueChanges))
        const [list, applyList] = random.pick(Object.entries(listChanges))
        yield made(`${headers[at]?.[0]} ${value} and ${list}`, applyList(changed(headers, at, applyValue), at))
      }
    }
  }
}

function changed(headers: readonly Header[], at: number, apply: (value: Buffer) => Buffer): Header[] {
  return headers.map((each, i) => (i === at ? [each[0], apply(each[1])] : each))
}

/** Sends the review with a list of headers and returns the user of the response. */
export function identityAsker(process: () => AttackedProcess): {
  send(attack: HeaderCase): Promise<{ status: number; identity: Identity | undefined }>
  close(): void
} {
  const connections = new Map<Shown, RawHttp2>()
  const connection = async (shown: Shown) => {
    const known = connections.get(shown)
    if (known?.usable === true) return known
    known?.close()
    const opened = await RawHttp2.open({ port: process().port, certificate: certificate(shown) })
    connections.set(shown, opened)
    return opened
  }
  const certificate = (shown: Shown) => (shown === 'none' ? undefined : process().certificates[shown])
  const type: RawHeader = ['content-type', bytes('application/json')]
  return {
    async send({ transport, shown, headers }) {
      const request = { method: 'POST', target, headers: [type, ...headers], body: review }
      const answer =
        transport === 'http1'
          ? await sendHttp1(request, { port: process().port, certificate: certificate(shown) })
          : await (await connection(shown)).send(request)
      return { status: answer.status, identity: identityOf(answer) }
    },
    close() {
      for (const each of connections.values()) each.close()
    },
  }
}

export function identityOf({ text }: RawAnswer): Identity | undefined {
  const start = text.indexOf('{')
  if (!text.includes('"userInfo"') || start < 0) return undefined
  const end = text.lastIndexOf('}')
  const { status } = JSON.parse(text.slice(start, end + 1)) as { status: { userInfo: { username: string; groups?: string[] } } }
  return { username: status.userInfo.username, groups: status.userInfo.groups ?? [] }
}

export const headerLists: Family = {
  name: 'header lists',
  purpose: 'a request runs as the user that its list of headers names, or is refused',
  async run({ random, report, size }) {
    await using process = await startAttackedProcess()
    const asker = identityAsker(() => process)
    try {
      for (const attack of headerCases(['http1', 'http2'], random, size === 'full' ? 60 : 4)) {
        // The short run sends every twentieth list.
        if (size === 'short' && !random.chance(5)) continue
        await process.probe('begin')
        const answer = await asker.send(attack)
        const { longestMs } = await process.probe('read')
        const reason = judgeIdentity(expectedIdentity(attack), answer)
        report.add({
          name: attack.name,
          outcome: answer.identity === undefined ? 'refused' : 'accepted',
          stallMs: longestMs,
          ...(reason === undefined ? {} : { reason }),
        })
      }
    } finally {
      asker.close()
    }
  },
}
