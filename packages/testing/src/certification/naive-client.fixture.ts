import type { CachedObject, ClientAdapter, ConnectedClient } from './interfaces.ts'
import { type NaiveRequest, readObject, StatusError, send } from './naive-request.fixture.ts'
import { pause } from './violation.ts'

/** Defects of clients. */
export type ClientDefect =
  | 'repeats conflicts'
  | 'overwrites after a conflict'
  | 'drops the version'
  | 'drops preconditions'
  | 'repeats creates'
  | 'ignores Retry-After'
  | 'reads the first chunk only'
  | 'has one type of patch'
  | 'does not escape names'
  | 'does not escape selectors'

type Call = Omit<NaiveRequest, 'server'>

/** A client in a hundred lines. Correct without defects; each defect breaks it in one way. */
export function naiveClient(...defects: readonly ClientDefect[]): ClientAdapter {
  const has = (defect: ClientDefect) => defects.includes(defect)
  return {
    connect(server, namespace): ConnectedClient {
      const collection = `/api/v1/namespaces/${namespace}/configmaps`
      const pathOf = (name = '') =>
        `${collection}/${has('does not escape names') ? name.replaceAll(' ', '+') : encodeURIComponent(name)}`
      const call = async <T = CachedObject>(request: Call, retries = 1): Promise<T> => {
        try {
          return await readObject<T>(await send({ server, ...request }))
        } catch (error) {
          const { code = 0, retryAfterMs } = error instanceof StatusError ? error : {}
          const isRefused = retryAfterMs !== undefined
          const isRepeated = isRefused || (request.method === 'POST' && has('repeats creates') && code !== 404)
          if (retries === 0 || !(isRepeated || (code === 409 && has('repeats conflicts')))) throw error
          if (isRefused && !has('ignores Retry-After')) await pause(retryAfterMs)
          return call<T>(request, retries - 1)
        }
      }
      const update = (object: CachedObject) => {
        const { resourceVersion: _, ...metadata } = object.metadata
        const body = has('drops the version') ? { ...object, metadata } : object
        return call({ method: 'PUT', path: pathOf(object.metadata.name), body })
      }
      const patch = (name: string, type: string, body: unknown, query = '') => {
        const contentType = `application/${has('has one type of patch') ? 'merge-patch+json' : type}`
        return call({ method: 'PATCH', path: `${pathOf(name)}${query}`, contentType, body })
      }
      return {
        get: (name) => call({ path: pathOf(name) }),
        create: (body) => call({ method: 'POST', path: collection, body }),
        update,
        async modify(name, data) {
          for (;;) {
            const object = await call({ path: pathOf(name) })
            const changed = { ...object, data: { ...object.data, ...data } }
            try {
              return await update(changed)
            } catch (error) {
              if (!(error instanceof StatusError) || error.code !== 409) throw error
              if (has('overwrites after a conflict')) return update({ ...changed, metadata: { name } })
            }
          }
        },
        patch: (name, { type, patch: body }) =>
          patch(name, `${type === 'strategic' ? 'strategic-merge' : type}-patch+json`, body),
        apply: (object, manager) =>
          patch(
            object.metadata.name!,
            'apply-patch+yaml',
            { apiVersion: 'v1', kind: 'ConfigMap', ...object },
            `?fieldManager=${manager}`,
          ),
        async list({ limit, ...selectors }) {
          const items: CachedObject[] = []
          let next = ''
          do {
            const query = has('does not escape selectors')
              ? Object.entries(selectors)
                  .map(([name, value]) => `${name}=${value.replaceAll(' ', '+')}`)
                  .join('&')
              : new URLSearchParams(selectors).toString()
            const chunk = `${limit === undefined ? '' : `&limit=${limit}`}${next === '' ? '' : `&continue=${next}`}`
            const list = await call<{ items: CachedObject[]; metadata: { continue?: string } }>({
              path: `${collection}?${query}${chunk}`,
            })
            items.push(...list.items)
            next = has('reads the first chunk only') ? '' : (list.metadata.continue ?? '')
          } while (next !== '')
          return items
        },
        async delete(name, preconditions) {
          const body = has('drops preconditions') ? {} : { preconditions }
          await call({ method: 'DELETE', path: pathOf(name), body: { apiVersion: 'v1', kind: 'DeleteOptions', ...body } })
        },
      }
    },
  }
}
