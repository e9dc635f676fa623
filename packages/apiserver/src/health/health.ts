import { goQuote } from '@krmkit/meta/go-text'
import type { ApiResponse } from '@krmkit/protocol'
import { textResponse } from '../media/response-writer.ts'
import type { Query } from '../request/query.ts'

/** A named health check. `check` throws or rejects with the reason when it fails. */
export interface HealthCheck {
  readonly name: string
  check(): void | Promise<void>
}

const roots = ['/healthz', '/livez', '/readyz'] as const

/** The checks of each health endpoint. */
export type HealthChecks = Readonly<Record<(typeof roots)[number], readonly HealthCheck[]>>

/** Serves `/healthz`, `/livez`, `/readyz` and the single checks below them; undefined for other paths. */
export async function healthResponse(
  path: string,
  query: Query,
  checks: HealthChecks,
  /** Called with the result of each check. */
  observe?: (type: string, name: string, isHealthy: boolean) => void,
): Promise<ApiResponse | undefined> {
  const root = roots.find((candidate) => path === candidate || path.startsWith(`${candidate}/`))
  if (root === undefined) return undefined
  const all = checks[root]
  const type = root.slice(1)
  if (path !== root) {
    const one = all.find((check) => path === `${root}/${check.name}`)
    if (one === undefined) return textResponse(404, '404 page not found\n')
    const failure = await runCheck(one)
    observe?.(type, one.name, failure === undefined)
    return failure === undefined ? singleOk() : textResponse(500, `internal server error: ${failure}\n`)
  }
  const excluded = new Set(query.get('exclude') ?? [])
  const lines: string[] = []
  let failed = false
  for (const check of all) {
    if (excluded.has(check.name)) {
      lines.push(`[+]${check.name} excluded: ok`)
      excluded.delete(check.name)
      continue
    }
    const failure = await runCheck(check)
    observe?.(type, check.name, failure === undefined)
    if (failure !== undefined) failed = true
    lines.push(failure === undefined ? `[+]${check.name} ok` : `[-]${check.name} failed: reason withheld`)
  }
  if (excluded.size > 0) {
    const names = [...excluded].sort().map(goQuote).join(',')
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`)
  }
  if (failed) return textResponse(500, `${lines.join('\n')}\n${type} check failed\n`)
  return query.has('verbose') ? textResponse(200, `${lines.join('\n')}\n${type} check passed\n`) : textResponse(200, 'ok')
}

/** The response of a single check that passes. As on kube-apiserver, it has no `X-Content-Type-Options`. */
function singleOk(): ApiResponse {
  const { headers, ...rest } = textResponse(200, 'ok')
  const { 'x-content-type-options': _, ...others } = headers
  return { ...rest, headers: others }
}

async function runCheck(check: HealthCheck): Promise<string | undefined> {
  try {
    await check.check()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
