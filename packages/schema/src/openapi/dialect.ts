/** The two published forms of schemas: Swagger 2.0 and OpenAPI 3.0. */
export type Dialect = 'v2' | 'v3'

const prefixes: Readonly<Record<Dialect, string>> = { v2: '#/definitions/', v3: '#/components/schemas/' }

/** A reference to the named schema. */
export function refTo(name: string, dialect: Dialect): string {
  return prefixes[dialect] + name
}
