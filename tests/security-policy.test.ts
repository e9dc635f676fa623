import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from './source-files.ts'

/** Compares the limits of SECURITY.md with the code. */

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const server = 'packages/apiserver/src/server/options.ts'
const port = 'packages/http/src/listen-options.ts'
const simulation = 'packages/controllers/src/node-simulation'

/** The source of each limit: a file, and a constant, member or default in it. */
const sources: Readonly<Record<string, readonly [file: string, name: string]>> = {
  'request body': [server, 'bodyBytes'],
  'stored object': [server, 'objectBytes'],
  'read-only requests in flight': [server, 'readOnlyInFlight'],
  'mutating requests in flight': [server, 'mutatingInFlight'],
  'timeout of non-watch requests': [server, 'requestTimeoutMs'],
  'minimum duration of a watch without timeout': [server, 'watchMs'],
  'request line and headers': [port, 'headerBytes'],
  'time to receive the headers': [port, 'headersTimeoutMs'],
  'time to receive the body': [port, 'requestTimeoutMs'],
  'minimum rate of a body, in bytes per second': [port, 'bodyBytesPerSecond'],
  'window of that rate': [port, 'bodyWindowMs'],
  'idle connection': [port, 'idleTimeoutMs'],
  'TLS handshake': [port, 'handshakeTimeoutMs'],
  'streams of an HTTP/2 connection': [port, 'concurrentStreams'],
  'resets of an HTTP/2 connection, per second': ['packages/http/src/reset-budget.ts', 'resetsPerSecond'],
  'connections without a complete request head': [port, 'pendingConnections'],
  'the same, per address': [port, 'pendingConnectionsPerAddress'],
  'body that is discarded unread after a rejection': ['packages/http/src/unread-body.ts', 'unreadBytes'],
  'rest of a body whose reading has begun, after a rejection': ['packages/http/src/unread-body.ts', 'discardBytes'],
  'terms and values of a selector': ['packages/meta/src/selectors/selector-limits.ts', 'maxSelectorTerms'],
  'operations of a JSON patch': ['packages/fieldmanager/src/patch/json-patch.ts', 'maxOperations'],
  'depth of JSON': ['packages/schema/src/json/parse-json.ts', 'maxJsonDepth'],
  'depth of YAML': ['packages/schema/src/yaml/scanner.ts', 'maxDepth'],
  'depth of an object': ['packages/schema/src/decode/context.ts', 'maxDepth'],
  'characters of a name': ['packages/registry/src/keys.ts', 'maxSegmentLength'],
  'annotations of an object': ['packages/meta/src/validation/object-meta.ts', 'maxAnnotationsSize'],
  'causes of a Status': ['packages/meta/src/validation/error-list.ts', 'maxFieldErrors'],
  'characters of all causes': ['packages/meta/src/validation/error-list.ts', 'maxFieldErrorsLength'],
  'characters of a rejected value in a message': ['packages/meta/src/go-text.ts', 'maxPrintedLength'],
  'characters of a field manager name': ['packages/meta/src/validation/managed-fields.ts', 'maxFieldManagerLength'],
  'characters of a warning': ['packages/apiserver/src/filters/warnings.ts', 'maxWarningCharacters'],
  'characters of all warnings': ['packages/apiserver/src/filters/warnings.ts', 'maxTotalCharacters'],
  'bearer token': ['packages/authentication/src/bearer-token.ts', 'maxTokenLength'],
  'JSON Web Token': ['packages/authentication/src/jwt.ts', 'maxTokenLength'],
  'certificates in a chain': ['packages/authentication/src/x509/certificate-chain.ts', 'maxDepth'],
  'response of an issuer or token webhook': ['packages/base/src/fetch.ts', 'maxBytes'],
  'response of an authorization webhook': ['packages/base/src/fetch.ts', 'maxBytes'],
  'response of an admission webhook': ['packages/admission/src/webhook/client.ts', 'defaultResponseLimitBytes'],
  'time slice of long computations': ['packages/base/src/work.ts', 'defaultSliceMs'],
  'kept destinations of connections to pods and nodes': ['packages/apiserver/src/backends/backends.ts', 'maxConnections'],
  'time to connect to a pod, a node or an aggregated server': ['packages/http/src/proxy-transport.ts', 'connectMs'],
  'response head of a pod, a node or an aggregated server': ['packages/http/src/proxy-transport.ts', 'maxHeadBytes'],
  'HTML tag with links that are rewritten': ['packages/apiserver/src/proxy/html-rewriter.ts', 'maxTagCharacters'],
  'frame or message of a WebSocket to a simulated container': [`${simulation}/web-socket-reader.ts`, 'maxMessageBytes'],
  'input of a simulated container that waits for its reader': [`${simulation}/intake.ts`, 'maxQueuedBytes'],
  'output of a simulated container that its client has not read': [`${simulation}/server-pipe.ts`, 'maxUnreadBytes'],
  'control frame of SPDY': [`${simulation}/spdy/frames.ts`, 'maxControlBytes'],
  'headers of a SPDY stream': [`${simulation}/spdy/header-block.ts`, 'maxBlockBytes'],
  'refused SPDY streams in a row': [`${simulation}/spdy/connection.ts`, 'maxRefusals'],
  'requests and objects that are kept for the inspector': ['packages/testing/src/inspector/inspector.ts', 'traceBytes'],
  'inspector page, in characters': ['packages/testing/src/inspector/report.ts', 'maxPageCharacters'],
  'object on the inspector page': ['packages/testing/src/inspector/short-texts.ts', 'maxObjectCharacters'],
  'pending events of a watcher': ['packages/storage/src/options.ts', 'maxPending'],
}

/** Bytes, milliseconds, or a count. */
const units: Readonly<Record<string, number>> = { MiB: 2 ** 20, KiB: 1024, B: 1, min: 60_000, s: 1000, ms: 1, '': 1 }

function statedValue(text: string): number {
  const found = /^([\d .]+?) ?(MiB|KiB|B|min|s|ms|)$/.exec(text)
  return Number(found?.[1]?.replaceAll(' ', '')) * (units[found?.[2] ?? ''] ?? Number.NaN)
}

/** The number that a constant, a member of defaults or the fallback of an option is set to. */
function codeValue(file: string, name: string): number {
  const found = new RegExp(`\\b${name}(?:: \\w+)? ?(?:=|:|: options\\.${name} \\?\\?) (\\d[\\d_.]*(?: \\* \\d[\\d_.]*)*)`).exec(
    read(file),
  )
  if (found === null) throw new Error(`${file} sets no ${name}`)
  return (found[1] ?? '').split(' * ').reduce((product, factor) => product * Number(factor.replaceAll('_', '')), 1)
}

const section = /## Limits\n(.*?)\n## /s.exec(read('SECURITY.md'))?.[1] ?? ''
const rows = section
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| limit |'))
  .map((line) => line.split('|').map((cell) => cell.trim()))

const flagFiles = ['serve', 'admission/', 'audit/', 'authentication/', 'authorization/', 'certificate/serve']
/** The modules that declare flags of `krmkit serve`. */
const flagSources = flagFiles.map((name) => read(`packages/cli/src/${name}${name.endsWith('/') ? '' : '-'}flags.ts`)).join('\n')

describe('SECURITY.md', () => {
  it('has a row for each limit', () => {
    expect(rows.map(([, label]) => label).sort()).toEqual(Object.keys(sources).sort())
  })

  it.each(rows.map(([, label = '', value = '']) => [label, value] as const))(
    'states the limit of the code: %s, %s',
    (label, value) => {
      const [file, name] = sources[label] ?? ['', '']
      expect(statedValue(value)).toBe(codeValue(file, name))
    },
  )

  it('names flags of krmkit serve', () => {
    const flags = [...section.matchAll(/flag `(--[a-z-]+)`/g)].map((match) => match[1] ?? '')
    expect(flags.length).toBeGreaterThan(3)
    for (const flag of flags) expect(flagSources, flag).toMatch(new RegExp(`${flag}\\b`))
  })

  it.each(['SECURITY.md', 'docs/operate/hardening.md', 'tests/attacks/README.md'])('has valid links: %s', (page) => {
    const links = [...read(page).matchAll(/\]\(([^)#:]+)[^)]*\)/g)].map((match) => match[1] ?? '')
    for (const link of links) expect(existsSync(join(root, dirname(page), link)), `${page}: ${link}`).toBe(true)
  })
})

describe('docs/operate/hardening.md', () => {
  it('uses existing flags', () => {
    const commands = read('docs/operate/hardening.md').matchAll(/krmkit serve (?:[^`#]|\\\n)*?(?=\n[^ ]|`|#)/g)
    const flags = new Set(
      [...commands].flatMap(([text]) => [...text.matchAll(/(--[a-z][a-z-]+)/g)].map((match) => match[1] ?? '')),
    )
    expect(flags.size).toBeGreaterThan(8)
    for (const flag of flags) if (flag !== '--help') expect(flagSources.replaceAll(/\$\{\w+\}/g, 'log'), flag).toContain(flag)
  })
})
