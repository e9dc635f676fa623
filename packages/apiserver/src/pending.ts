export const parseYaml = (b: Uint8Array) => ({ value: JSON.parse(new TextDecoder().decode(b)) as unknown, problems: [] as string[] })
export const printYaml = (o: object): string => JSON.stringify(o)
export const encodeObjectEnvelope = (_t: unknown, _o: object): Uint8Array => new Uint8Array(4)
export const decodeObjectEnvelope = (_b: Uint8Array): { typeMeta: { apiVersion: string; kind: string }; decode(t: unknown): { object: unknown; problems: string[] } } => { throw new Error('pending') }
export const encodeWatchEvent = (_t: unknown, _x: string, b: Uint8Array): Uint8Array => b
export class PatchError extends Error { readonly code = '' as string }
export const mergePatch = (a: unknown, p: unknown): never => { const m = (x: any, y: any): any => { if (typeof y !== 'object' || y === null || Array.isArray(y)) return y; const o: any = typeof x === 'object' && x && !Array.isArray(x) ? { ...x } : {}; for (const k of Object.keys(y)) if (y[k] === null) delete o[k]; else o[k] = m(o[k], y[k]); return o }; return m(a, p) as never }
export const jsonPatch = (a: unknown, _p: unknown, _o: unknown): never => a as never
export const strategicMergePatch = (_t: unknown, a: unknown, p: unknown): never => mergePatch(a, p)
