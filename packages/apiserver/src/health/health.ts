import type { ApiResponse } from '@krmkit/protocol'
import { textResponse } from '../encoding/response-writer.ts'
import { flag, type Query } from '../query.ts'

/** A named health check. `check` throws or rejects with the reason when it fails. */
export interface HealthCheck {
  readonly name: string
  check(): void | Promise<void>
}

const roots = ['/healthz', '/livez', '/readyz'] as const

/** Serves `/healthz`, `/livez`, `/readyz` and the single checks below them; undefined for other paths. */
export async function healthResponse(
  path: string,
  query: Query,
  checks: Readonly<Record<(typeof roots)[number], readonly HealthCheck[]>>,
  /** Called with the result of each check. */
  observe?: (type: string, name: string, isHealthy: boolean) => void,
): Promise<ApiResponse | undefined> {
  const root = roots.find((candidate) => path === candidate || path.startsWith(`${candidate}/`))
  if (root === undefined) return undefined
  const rest = path.slice(root.length).replace(/^\/|\/$/g, '')
  const all = checks[root]
  const type = root.slice(1)
  if (rest !== '') {
    const one = all.find((check) => check.name === rest)
    if (one === undefined) return textResponse(404, '404 page not found\n')
    const failure = await runCheck(one)
    observe?.(type, one.name, failure === undefined)
    return failure === undefined ? textResponse(200, 'ok') : textResponse(500, `internal server error: ${failure}\n`)
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
  for (const name of excluded) lines.push(`warn: some health checks cannot be excluded: no matches for ${JSON.stringify(name)}`)
  if (failed) return textResponse(500, `${lines.join('\n')}\n${type} check failed\n`)
  return flag(query, 'verbose') ? textResponse(200, `${lines.join('\n')}\n${type} check passed\n`) : textResponse(200, 'ok')
}

async function runCheck(check: HealthCheck): Promise<string | undefined> {
  try {
    await check.check()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
